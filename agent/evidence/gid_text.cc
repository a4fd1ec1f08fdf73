#include "agent/evidence/gid_text.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

#include "agent/host/gid_address.h"

namespace rocetune::evidence {
namespace {

// Sixteen numbers of that base, with colons in between.
std::optional<std::array<std::uint8_t, 16>> sixteen_bytes(std::string_view text, int base) {
  std::array<std::uint8_t, 16> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (part.empty() || part.size() > 3) return std::nullopt;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, base);
    if (error != std::errc() || end != part.data() + part.size() || value > 255) return std::nullopt;
    out[i] = static_cast<std::uint8_t>(value);
    const bool is_last = i + 1 == out.size();
    if (is_last != (colon == std::string_view::npos)) return std::nullopt;
    if (!is_last) text.remove_prefix(colon + 1);
  }
  return out;
}

}  // namespace

std::optional<GidText> GidText::of(std::string_view text) {
  if (text.size() > 60) return std::nullopt;
  auto bytes = sixteen_bytes(text, 16);
  if (!bytes) bytes = host::gid_bytes(text);
  if (!bytes) return std::nullopt;
  GidText out;
  out.bytes_ = *bytes;
  return out;
}

std::optional<GidText> GidText::of_decimal_bytes(std::string_view text) {
  const auto bytes = sixteen_bytes(text, 10);
  if (!bytes) return std::nullopt;
  GidText out;
  out.bytes_ = *bytes;
  return out;
}

GidText::Kind GidText::kind() const {
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr std::uint8_t kNothing[16] = {};
  if (std::memcmp(bytes_.data(), kNothing, sizeof kNothing) == 0) return Kind::empty;
  if (std::memcmp(bytes_.data(), kMapped, sizeof kMapped) == 0) return Kind::ipv4;
  if (bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80) return Kind::link_local;
  return Kind::other;
}

std::string GidText::text() const {
  char out[INET6_ADDRSTRLEN] = {};
  if (kind() == Kind::ipv4) {
    inet_ntop(AF_INET, bytes_.data() + 12, out, sizeof out);
  } else {
    inet_ntop(AF_INET6, bytes_.data(), out, sizeof out);
  }
  return out;
}

std::string_view kind_name(GidText::Kind kind) {
  switch (kind) {
    case GidText::Kind::empty:
      return "empty";
    case GidText::Kind::link_local:
      return "link-local";
    case GidText::Kind::ipv4:
      return "IPv4";
    case GidText::Kind::other:
      break;
  }
  return "IPv6";
}

}  // namespace rocetune::evidence
