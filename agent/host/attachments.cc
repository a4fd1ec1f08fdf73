#include "agent/host/attachments.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "agent/host/network_storage.h"
#include "agent/host/storage_service.h"
#include "agent/host/words.h"

namespace rocetune::host {
namespace {

constexpr int kEstablished = 1, kListen = 10;  // include/net/tcp_states.h
constexpr std::uint16_t kSsh = 22;

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

std::optional<int> route_to(const std::vector<RouteEntry>& routes, const std::string& address) {
  const auto target = parse_address_text(address);
  // fe80::/10 is on every link: no route tells which one is meant.
  if (!target ||
      (target->family == AF_INET6 && target->bytes[0] == 0xfe && (target->bytes[1] & 0xc0) == 0x80)) {
    return std::nullopt;
  }
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

namespace {

bool is_this_host(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

// The link that has this address of our own.
std::optional<int> link_with(const KernelAnswers& kernel, const std::string& address) {
  if (!kernel.addresses) return std::nullopt;
  const auto found =
      std::find_if(kernel.addresses->begin(), kernel.addresses->end(), [&](const AddressEntry& entry) {
        return std::string_view(entry.address).substr(0, entry.address.find('/')) == address;
      });
  return found == kernel.addresses->end() ? std::nullopt : std::optional(found->index);
}

// Where a connection's packets leave and where they come in: with routes by source (tables of their own per
// NIC, usual on RoCE hosts) these differ from what the main table says of its peer.
std::set<int> links_of(const KernelAnswers& kernel, const TcpConnection& connection) {
  std::set<int> out;
  if (const auto link = route_to(*kernel.routes, connection.remote_address)) out.insert(*link);
  if (const auto link = link_with(kernel, connection.local_address)) out.insert(*link);
  return out;
}

void add_sessions(const HostFiles& files, const KernelAnswers& kernel, AttachmentSurvey& out) {
  std::vector<TcpConnection> connections;
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = files.text(table);
    if (text) {
      auto parsed = parse_tcp_table(*text);
      connections.insert(connections.end(), parsed.begin(), parsed.end());
    } else if (text.error().kind() != ErrorKind::absent || std::string_view(table) == "/proc/net/tcp") {
      // A kernel without IPv6 has no tcp6; every other table that is not there or closed tells nothing.
      out.anywhere.unknown_sessions.push_back(text.error().text());
    }
  }
  const std::set<std::uint16_t> ports = ssh_ports(files, connections);
  for (const TcpConnection& connection : connections) {
    if (!connection.is_established || !ports.contains(connection.local_port)) continue;
    const std::string& peer = connection.remote_address;
    if (is_this_host(peer)) continue;
    const std::set<int> links = links_of(kernel, connection);
    for (const int link : links) out.by_link[link].ssh_peers.push_back(peer);
    if (links.empty()) {
      out.anywhere.unknown_sessions.push_back(fmt::format("ssh from {}: no route to it is known", peer));
    }
  }
}

void add_services(const ServiceSurvey& survey, const KernelAnswers& kernel, AttachmentSurvey& out) {
  auto& unknown = out.anywhere.unknown_storage;
  unknown.insert(unknown.end(), survey.unread.begin(), survey.unread.end());
  for (const StorageService& service : survey.services) {
    if (const auto link = link_with(kernel, service.address)) {
      out.by_link[*link].storage_mounts.push_back(service.name);
    } else if (!is_this_host(service.address)) {
      unknown.push_back(fmt::format("{}: which port it goes over is not known", service.name));
    }
  }
}

void add_storage(const HostFiles& files, const std::vector<RouteEntry>& routes, bool lnet_is_known,
                 AttachmentSurvey& out) {
  const StorageSurvey survey = read_network_storage(files);
  out.anywhere.unknown_storage = survey.unread;
  for (const NetworkStorage& storage : survey.storage) {
    if (storage.type == kLustreTarget) {
      // It is served over LNet's interfaces, which are judged by themselves.
      if (!lnet_is_known) {
        out.anywhere.unknown_storage.push_back(
            fmt::format("{}: over which ports this Lustre target is served is not known", storage.where));
      }
      continue;
    }
    const bool is_mount = storage.where.starts_with('/');
    const std::string name = is_mount ? storage.where : fmt::format("{} ({})", storage.where, storage.type);
    if (storage.servers.empty()) {
      out.anywhere.unknown_storage.push_back(fmt::format("{}: its servers are not known", name));
    }
    for (const std::string& server : storage.servers) {
      if (is_this_host(server)) continue;
      if (const auto link = route_to(routes, server)) {
        out.by_link[*link].storage_mounts.push_back(name);
      } else {
        out.anywhere.unknown_storage.push_back(
            fmt::format("{}: where server {} is reached is not known", name, server));
      }
    }
  }
}

void sort_out(Attachments& attachments) {
  for (auto* list : {&attachments.ssh_peers, &attachments.storage_mounts, &attachments.unknown_sessions,
                     &attachments.unknown_storage, &attachments.gateway_routes}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

}  // namespace

Observed<AttachmentSurvey> read_attachments(const HostFiles& files, const KernelAnswers& kernel) {
  if (!kernel.routes) return tl::unexpected(kernel.routes.error());
  AttachmentSurvey out;
  for (const RouteEntry& route : *kernel.routes) {
    if (route.destination.ends_with("/0")) out.by_link[route.index].carries_default_route = true;
    if (route.has_gateway) out.by_link[route.index].gateway_routes.push_back(route.destination);
  }
  add_sessions(files, kernel, out);
  const ServiceSurvey services = read_storage_services(files);
  add_storage(files, *kernel.routes, services.lnet_is_known, out);
  add_services(services, kernel, out);
  sort_out(out.anywhere);
  for (auto& [link, attachments] : out.by_link) sort_out(attachments);
  return out;
}

}  // namespace rocetune::host
