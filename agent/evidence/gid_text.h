// A GID or IPv6 address as programs print it, and what kind of address it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocetune::evidence {

class GidText {
 public:
  enum class Kind { empty, link_local, ipv4, other };

  // "fe80::1", "::ffff:10.0.0.1", "0000:0000:...:c0a8:0101", sixteen bytes "fe:80:00:...:01". Nothing if it
  // is none, or has a zone ("fe80::1%ib0" is the address of a socket).
  static std::optional<GidText> of(std::string_view text);
  // Sixteen bytes in decimal, as perftest prints them: "00:00:...:255:255:10:77:00:01".
  static std::optional<GidText> of_decimal_bytes(std::string_view text);

  Kind kind() const;
  bool is_link_local() const { return kind() == Kind::link_local; }
  // "198.51.100.6" of an IPv4-mapped one, else groups of hex.
  std::string text() const;
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  bool operator==(const GidText&) const = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

// "link-local", "IPv4", "IPv6", "empty".
std::string_view kind_name(GidText::Kind kind);

}  // namespace rocetune::evidence
