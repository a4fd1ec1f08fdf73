#include "agent/host/gid_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace rocetune::host {

std::optional<std::array<std::uint8_t, 16>> gid_bytes(std::string_view text) {
  char buffer[INET6_ADDRSTRLEN + 1];
  if (text.size() >= sizeof buffer || text.size() < 2) return std::nullopt;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  std::array<std::uint8_t, 16> raw{};
  if (inet_pton(AF_INET6, buffer, raw.data()) != 1) return std::nullopt;
  return raw;
}

std::optional<std::string> normal_gid_address(std::string_view text) {
  const auto raw = gid_bytes(text);
  if (!raw) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < raw->size(); i += 2) {
    out += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", (*raw)[i], (*raw)[i + 1]);
  }
  return out;
}

bool is_global_ipv6(std::string_view address) {
  const auto raw = gid_bytes(address);
  return raw && (((*raw)[0] & 0xe0) == 0x20 || ((*raw)[0] & 0xfe) == 0xfc);
}

bool is_empty_gid(std::string_view address) {
  const auto raw = gid_bytes(address);
  return raw && std::all_of(raw->begin(), raw->end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<std::array<std::uint8_t, 4>> ipv4_in(std::string_view address) {
  const auto raw = gid_bytes(address);
  if (!raw || (*raw)[10] != 0xff || (*raw)[11] != 0xff) return std::nullopt;
  if (!std::all_of(raw->begin(), raw->begin() + 10, [](std::uint8_t byte) { return byte == 0; }))
    return std::nullopt;
  return std::array<std::uint8_t, 4>{(*raw)[12], (*raw)[13], (*raw)[14], (*raw)[15]};
}

std::string to_text(const std::array<std::uint8_t, 4>& ipv4) {
  return fmt::format("{}.{}.{}.{}", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
}

std::optional<std::array<std::uint8_t, 6>> mac_in(std::string_view address) {
  const auto raw = gid_bytes(address);
  if (!raw || (*raw)[0] != 0xfe || ((*raw)[1] & 0xc0) != 0x80) return std::nullopt;
  if ((*raw)[11] != 0xff || (*raw)[12] != 0xfe) return std::nullopt;
  return std::array<std::uint8_t, 6>{static_cast<std::uint8_t>((*raw)[8] ^ 0x02u),
                                     (*raw)[9],
                                     (*raw)[10],
                                     (*raw)[13],
                                     (*raw)[14],
                                     (*raw)[15]};
}

std::string to_text(const std::array<std::uint8_t, 6>& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4],
                     mac[5]);
}

}  // namespace rocetune::host
