#include "agent/host/anonymous.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "dataplane/base/random.h"
#include "dataplane/base/sha256.h"

namespace rocetune::host {
namespace {

// What stands behind the address: "/24", or nothing.
std::pair<std::string_view, std::string_view> split_prefix(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return {text, {}};
  return {text.substr(0, slash), text.substr(slash)};
}

template <std::size_t N>
std::optional<std::array<std::uint8_t, N>> parsed(int family, std::string_view text) {
  std::array<std::uint8_t, N> out{};
  if (::inet_pton(family, std::string(text).c_str(), out.data()) != 1) return std::nullopt;
  return out;
}

// "aa:bb:cc:dd:ee:ff" as bytes.
std::optional<std::array<std::uint8_t, 6>> mac_bytes(std::string_view text) {
  std::array<std::uint8_t, 6> out{};
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < 6; ++i) {
    if (i > 0 && text[3 * i - 1] != ':') return std::nullopt;
    const char* begin = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, out[i], 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
  }
  return out;
}

std::string to_text(const std::array<std::uint8_t, 6>& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4],
                     mac[5]);
}

// 192.168/16, 172.16/12, 169.254/16: what they are stands in two octets.
bool is_private_by_two(const std::array<std::uint8_t, 4>& address) {
  return (address[0] == 192 && address[1] == 168) || (address[0] == 172 && address[1] >> 4 == 1) ||
         (address[0] == 169 && address[1] == 254);
}

// The interface identifier of a MAC (RFC 4291, appendix A): the local bit turned, ff:fe in the middle.
bool is_eui64(const std::uint8_t* half) { return half[3] == 0xff && half[4] == 0xfe; }

}  // namespace

std::uint64_t Anonymizer::digest(std::string_view kind, std::string_view text) const {
  Sha256 sum;
  sum.add(std::uint64_t{salt_.size()}).add(salt_).add(kind).add(std::uint64_t{kind.size()}).add(text);
  const Sha256::Digest bytes = sum.finish();
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) out = out << 8 | bytes[i];
  return out;
}

void Anonymizer::hide_bytes(std::string_view kind, std::uint8_t* bytes, std::size_t first,
                            std::size_t end) const {
  const std::string before(reinterpret_cast<const char*>(bytes), end);
  for (std::size_t i = first; i < end; ++i) {
    // A permutation of all bytes, chosen by what stands in front: equal prefixes stay equal, different bytes
    // different.
    std::array<std::uint8_t, 256> table{};
    std::iota(table.begin(), table.end(), std::uint8_t{0});
    Random random(digest(kind, std::string_view(before).substr(0, i)));
    random.shuffle(std::span<std::uint8_t>(table));
    bytes[i] = table[static_cast<std::uint8_t>(before[i])];
  }
}

std::string Anonymizer::name(std::string_view text) const {
  return text.empty() ? std::string() : fmt::format("host-{:06x}", digest("name", text) & 0xffffff);
}

std::string Anonymizer::ipv4(std::string_view text) const {
  const auto [address, prefix] = split_prefix(text);
  auto bytes = parsed<4>(AF_INET, address);
  if (!bytes) return name(text);
  hide_bytes("ipv4", bytes->data(), is_private_by_two(*bytes) ? 2 : 1, 4);
  return fmt::format("{}.{}.{}.{}{}", (*bytes)[0], (*bytes)[1], (*bytes)[2], (*bytes)[3], prefix);
}

std::string Anonymizer::mac(std::string_view text) const {
  auto bytes = mac_bytes(text);
  if (!bytes) return name(text);
  bool is_all_zero = true;
  for (const std::uint8_t byte : *bytes) is_all_zero &= byte == 0;
  if (is_all_zero) return std::string(text);  // "no partner" is a fact, not a person
  const std::uint64_t hash = digest("mac", std::string_view(reinterpret_cast<const char*>(bytes->data()), 6));
  for (std::size_t i = 3; i < 6; ++i) (*bytes)[i] = static_cast<std::uint8_t>(hash >> 8 * i);
  return to_text(*bytes);
}

std::string Anonymizer::ipv6(std::string_view text) const {
  const auto [address, prefix] = split_prefix(text);
  const auto bytes = parsed<16>(AF_INET6, address);
  if (!bytes) return name(text);
  std::string groups;
  for (std::size_t i = 0; i < 16; i += 2) {
    groups += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", (*bytes)[i], (*bytes)[i + 1]);
  }
  const auto hidden = parsed<16>(AF_INET6, gid(groups));
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_ntop(AF_INET6, hidden->data(), out.data(), out.size());
  return out.data() + std::string(prefix);
}

std::string Anonymizer::address(std::string_view text) const {
  return text.find(':') == std::string_view::npos ? ipv4(text) : ipv6(text);
}

std::string Anonymizer::guid(std::string_view text) const {
  // The first three bytes are the vendor's: "b8ce:f6" of "b8ce:f603:00ab:cdef".
  constexpr std::size_t kVendor = 7;
  if (text.size() != 19) return name(text);
  const std::uint64_t hash = digest("guid", text);
  return fmt::format("{}{:02x}:{:04x}:{:04x}", text.substr(0, kVendor), hash & 0xff, hash >> 8 & 0xffff,
                     hash >> 24 & 0xffff);
}

std::string Anonymizer::gid(std::string_view text) const {
  auto bytes = parsed<16>(AF_INET6, text);
  if (!bytes) return name(text);
  const bool is_mapped = text.starts_with("0000:0000:0000:0000:0000:ffff:");
  if (is_mapped) {
    const std::string plain =
        fmt::format("{}.{}.{}.{}", (*bytes)[12], (*bytes)[13], (*bytes)[14], (*bytes)[15]);
    const auto hidden = parsed<4>(AF_INET, ipv4(plain));
    for (std::size_t i = 0; i < 4; ++i) (*bytes)[12 + i] = (*hidden)[i];
  } else {
    const std::array<std::uint8_t, 16> before = *bytes;
    const bool is_link_local = before[0] == 0xfe && (before[1] & 0xc0) == 0x80;
    // Kind of the prefix (its first byte) stays; of link-local addresses the whole of it.
    const std::size_t kept = is_link_local ? 8 : 1;
    hide_bytes("ipv6", bytes->data(), kept, is_eui64(before.data() + 8) ? 8 : 16);
    if (is_eui64(before.data() + 8)) {
      const std::array<std::uint8_t, 6> own{static_cast<std::uint8_t>(before[8] ^ 2),
                                            before[9],
                                            before[10],
                                            before[13],
                                            before[14],
                                            before[15]};
      const auto hidden = mac_bytes(mac(to_text(own)));
      for (std::size_t i = 0; i < 3; ++i) (*bytes)[13 + i] = (*hidden)[3 + i];
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 16; i += 2) {
    out += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", (*bytes)[i], (*bytes)[i + 1]);
  }
  return out;
}

void make_anonymous(Host& host, const Anonymizer& hide) {
  host.name = hide.name(host.name);
  host.boot_id.clear();
  host.kernel_command_line = absent("left out: anonymous");
  if (host.unseen_namespaces) {
    for (std::string& text : *host.unseen_namespaces) text = hide.name(text);
  }
  for (Port& port : host.ports) {
    if (!port.network_namespace.empty()) port.network_namespace = hide.name(port.network_namespace);
    if (port.mac) port.mac = hide.mac(*port.mac);
    for (std::string& address : port.addresses) address = hide.address(address);
    if (port.attachments) {
      Attachments& attached = *port.attachments;
      for (auto* list : {&attached.ssh_peers, &attached.gateway_routes}) {
        for (std::string& text : *list) text = hide.address(text);
      }
      for (auto* list : {&attached.storage_mounts, &attached.unknown_sessions, &attached.unknown_storage}) {
        for (std::string& text : *list) text = hide.name(text);
      }
    }
    if (!port.rdma) continue;
    if (port.rdma->node_guid) port.rdma->node_guid = hide.guid(*port.rdma->node_guid);
    if (port.rdma->system_image_guid) port.rdma->system_image_guid = hide.guid(*port.rdma->system_image_guid);
    for (Gid& gid : port.rdma->gids) gid.address = hide.gid(gid.address);
  }
  for (Bond& bond : host.bonds) {
    if (bond.partner_mac) bond.partner_mac = hide.mac(*bond.partner_mac);
  }
}

}  // namespace rocetune::host
