// Addresses in GIDs: written in many ways, and with a MAC or an IPv4 address inside.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocetune::host {

// The sixteen bytes of an IPv6 address, however it is written. Nothing for what is none.
std::optional<std::array<std::uint8_t, 16>> gid_bytes(std::string_view text);
// As sysfs prints it: eight groups of four hex digits. Of "::ffff:10.0.0.1", "fe80::ac0:ebff:fe00:1" and the
// long form alike. Nothing for what is no IPv6 address.
std::optional<std::string> normal_gid_address(std::string_view text);

// Neither link-local, IPv4-mapped, loopback, multicast nor empty: an IPv6 address that is routed (2000::/3 or
// fc00::/7, RFC 4291 and RFC 4193). `address` as normal_gid_address gives it.
bool is_global_ipv6(std::string_view address);
// Nothing in it: the slot is free.
bool is_empty_gid(std::string_view address);

// "198.51.100.6" of an IPv4-mapped one.
std::optional<std::array<std::uint8_t, 4>> ipv4_in(std::string_view address);
std::string to_text(const std::array<std::uint8_t, 4>& ipv4);

// The MAC that a link-local address was made of (modified EUI-64, RFC 4291, appendix A): six bytes; nothing
// where it was not made of one.
std::optional<std::array<std::uint8_t, 6>> mac_in(std::string_view address);
std::string to_text(const std::array<std::uint8_t, 6>& mac);

}  // namespace rocetune::host
