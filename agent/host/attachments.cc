#include "agent/host/attachments.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace rocetune::host {
namespace {

constexpr int kEstablished = 1, kListen = 10;  // include/net/tcp_states.h
constexpr std::uint16_t kSsh = 22;

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return out;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    line = line.substr(end);
  }
}
// Pieces between separators; empty ones are left out.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text = text.substr(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string_view> lines(std::string_view text) { return split(text, '\n'); }

template <class T>
std::optional<T> hex_number(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

struct Address {
  int family = 0;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size() const { return family == AF_INET ? 4 : 16; }
  std::string text() const {
    std::array<char, INET6_ADDRSTRLEN> out{};
    return inet_ntop(family, bytes.data(), out.data(), out.size()) != nullptr ? out.data() : "";
  }
};

std::optional<Address> parse_address_text(const std::string& text) {
  Address out;
  for (const int family : {AF_INET, AF_INET6}) {
    out.family = family;
    if (inet_pton(family, text.c_str(), out.bytes.data()) == 1) return out;
  }
  return std::nullopt;
}

// An IPv4 address in IPv6 clothes is the IPv4 address.
Address unmapped(const Address& address) {
  constexpr std::array<std::uint8_t, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (address.family != AF_INET6 || !std::equal(kPrefix.begin(), kPrefix.end(), address.bytes.begin()))
    return address;
  Address out{.family = AF_INET};
  std::copy_n(address.bytes.begin() + 12, 4, out.bytes.begin());
  return out;
}

// "0100007F:0016": each group of eight digits is one 32-bit word in host order.
bool parse_endpoint(std::string_view text, std::string& address, std::uint16_t& port) {
  const std::size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return false;
  const auto port_number = hex_number<std::uint16_t>(text.substr(colon + 1));
  Address out{.family = colon == 8 ? AF_INET : AF_INET6};
  for (std::size_t i = 0; i < colon / 8; ++i) {
    const auto word = hex_number<std::uint32_t>(text.substr(i * 8, 8));
    if (!word) return false;
    std::memcpy(out.bytes.data() + i * 4, &*word, 4);
  }
  if (!port_number) return false;
  address = unmapped(out).text();
  port = *port_number;
  return true;
}

bool shares_prefix(const Address& a, const Address& b, int bits) {
  for (int bit = 0; bit < bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((a.bytes[at] & mask) != (b.bytes[at] & mask)) return false;
  }
  return true;
}

// Ports of listening sockets that belong to a process named sshd. Needs to see other users' descriptors;
// ports of socket activation belong to systemd, so 22 always counts.
std::set<std::uint16_t> ssh_ports(const HostFiles& files, const std::vector<TcpConnection>& connections) {
  std::set<std::uint16_t> out{kSsh};
  const auto config = files.text("/etc/ssh/sshd_config");
  if (!config) return out;
  for (const std::string_view line : lines(*config)) {
    const auto parts = words(line);
    std::uint16_t port = 0;
    if (parts.size() < 2 || parts[0] != "Port") continue;
    const auto [rest, error] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), port);
    const bool listens = std::any_of(connections.begin(), connections.end(), [&](const TcpConnection& c) {
      return c.is_listening && c.local_port == port;
    });
    if (error == std::errc() && listens) out.insert(port);
  }
  return out;
}

// "10.0.0.5:/data", "[fe80::1]:/data", "//server/share", "10.0.0.1,10.0.0.2:/ceph".
std::vector<std::string> servers_of(std::string_view source) {
  if (source.starts_with("//")) return {std::string(source.substr(2, source.find('/', 2) - 2))};
  if (source.starts_with("[")) return {std::string(source.substr(1, source.find(']') - 1))};
  std::vector<std::string> out;
  for (const std::string_view server : split(source.substr(0, source.find(":/")), ','))
    out.emplace_back(server);
  return out;
}

}  // namespace

std::vector<TcpConnection> parse_tcp_table(std::string_view text) {
  std::vector<TcpConnection> out;
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line);
    if (parts.size() < 4) continue;
    TcpConnection connection;
    const auto state = hex_number<int>(parts[3]);
    if (!state || !parse_endpoint(parts[1], connection.local_address, connection.local_port) ||
        !parse_endpoint(parts[2], connection.remote_address, connection.remote_port)) {
      continue;
    }
    connection.is_established = *state == kEstablished;
    connection.is_listening = *state == kListen;
    out.push_back(std::move(connection));
  }
  return out;
}

std::vector<NetworkMount> parse_network_mounts(std::string_view text) {
  static const std::set<std::string_view> kTypes{"nfs",    "nfs4",   "cifs",      "smb3",
                                                 "ceph",   "lustre", "glusterfs", "fuse.glusterfs",
                                                 "beegfs", "gpfs",   "9p",        "afs"};
  std::vector<NetworkMount> out;
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line);
    if (parts.size() < 4 || !kTypes.contains(parts[2])) continue;
    NetworkMount mount{.where = std::string(parts[1]), .type = std::string(parts[2]), .servers = {}};
    // nfs names the address it really uses in its options.
    for (const std::string_view option : split(parts[3], ',')) {
      if (option.starts_with("addr=")) mount.servers.emplace_back(option.substr(5));
    }
    if (mount.servers.empty()) mount.servers = servers_of(parts[0]);
    out.push_back(std::move(mount));
  }
  return out;
}

std::optional<int> route_to(const std::vector<RouteEntry>& routes, const std::string& address) {
  const auto target = parse_address_text(address);
  if (!target) return std::nullopt;
  const RouteEntry* best = nullptr;
  int best_bits = -1;
  for (const RouteEntry& route : routes) {
    const std::size_t slash = route.destination.find('/');
    const auto prefix = parse_address_text(route.destination.substr(0, slash));
    int bits = 0;
    if (!prefix || prefix->family != target->family || slash == std::string::npos) continue;
    std::from_chars(route.destination.data() + slash + 1, route.destination.data() + route.destination.size(),
                    bits);
    if (bits < 0 || bits > static_cast<int>(target->size() * 8) || !shares_prefix(*prefix, *target, bits))
      continue;
    if (bits > best_bits || (bits == best_bits && route.metric < best->metric)) {
      best = &route;
      best_bits = bits;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->index);
}

Observed<std::map<int, Attachments>> read_attachments(const HostFiles& files, const KernelAnswers& kernel) {
  if (!kernel.routes) return tl::unexpected(kernel.routes.error());
  std::map<int, Attachments> out;
  for (const RouteEntry& route : *kernel.routes) {
    if (route.destination.ends_with("/0")) out[route.index].carries_default_route = true;
  }
  std::vector<TcpConnection> connections;
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    if (const auto text = files.text(table)) {
      auto parsed = parse_tcp_table(*text);
      connections.insert(connections.end(), parsed.begin(), parsed.end());
    }
  }
  const std::set<std::uint16_t> ports = ssh_ports(files, connections);
  for (const TcpConnection& connection : connections) {
    if (!connection.is_established || !ports.contains(connection.local_port)) continue;
    if (const auto link = route_to(*kernel.routes, connection.remote_address)) {
      out[*link].ssh_peers.push_back(connection.remote_address);
    }
  }
  if (const auto mounts = files.text("/proc/mounts")) {
    for (const NetworkMount& mount : parse_network_mounts(*mounts)) {
      for (const std::string& server : mount.servers) {
        if (const auto link = route_to(*kernel.routes, server))
          out[*link].storage_mounts.push_back(mount.where);
      }
    }
  }
  for (auto& [link, attachments] : out) {
    for (auto* list : {&attachments.ssh_peers, &attachments.storage_mounts}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }
  return out;
}

}  // namespace rocetune::host
