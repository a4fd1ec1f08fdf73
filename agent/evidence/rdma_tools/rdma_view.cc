#include "agent/evidence/rdma_tools/rdma_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/evidence/words.h"
#include "agent/host/gid_address.h"

namespace rocetune::evidence {
namespace {

// "bond0.43" stands on "bond0".
bool is_vlan_of(const std::string& upper, const std::string& lower) {
  return upper.size() > lower.size() + 1 && upper.starts_with(lower) && upper[lower.size()] == '.';
}

bool is_usable_type(host::GidType type) {
  return type == host::GidType::roce_v2 || type == host::GidType::unknown;
}

}  // namespace

std::string RdmaPortView::netdev() const {
  std::string lowest;
  for (const host::Gid& gid : rdma.gids) {
    if (!gid.netdev || gid.netdev->empty()) continue;
    if (lowest.empty() || is_vlan_of(lowest, *gid.netdev)) {
      lowest = *gid.netdev;
    } else if (*gid.netdev != lowest && !is_vlan_of(*gid.netdev, lowest)) {
      return {};
    }
  }
  return lowest;
}

std::string RdmaPortView::name() const {
  if (rdma.device.empty()) return "port";
  return rdma.port == 1 ? rdma.device : fmt::format("{}/{}", rdma.device, rdma.port);
}

bool RdmaView::has_gids() const {
  return std::any_of(ports.begin(), ports.end(), [](const RdmaPortView& p) { return !p.rdma.gids.empty(); });
}

std::size_t RdmaView::devices() const {
  std::set<std::string_view> names;
  for (const RdmaPortView& port : ports) names.insert(port.rdma.device);
  return names.size();
}

std::optional<BitRate> rate_of_lanes(std::string_view width, std::string_view speed) {
  const auto lanes = leading_number<double>(width);
  const auto gigabits = leading_number<double>(speed);
  if (!lanes || !gigabits || *lanes < 1 || *lanes > 16 || *gigabits <= 0 || *gigabits > 1000) {
    return std::nullopt;
  }
  return BitRate(std::llround(*lanes * *gigabits * 1e9));
}

std::string port_state(std::string_view text) {
  if (const auto colon = text.find(':'); colon != std::string_view::npos) text.remove_prefix(colon + 1);
  text = trimmed(text);
  if (text.starts_with("PORT_")) text.remove_prefix(5);
  text = text.substr(0, text.find(' '));
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

host::LinkLayer link_layer(std::string_view text) {
  text = trimmed(text);
  if (text == "Ethernet") return host::LinkLayer::ethernet;
  if (text == "InfiniBand" || text == "IB" || text == "Infiniband") return host::LinkLayer::infiniband;
  return host::LinkLayer::unknown;
}

std::string normal_guid(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::string digits;
  for (const char c : text) {
    if (c == ':') continue;
    if (!is_hex_digit(c) || digits.size() == 16) return std::string(text);
    digits += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (digits.size() != 16) return std::string(text);
  return fmt::format("{}:{}:{}:{}", digits.substr(0, 4), digits.substr(4, 4), digits.substr(8, 4),
                     digits.substr(12, 4));
}

std::string vendor_of_device(std::string_view device) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 10> kNames{{{"mlx5_", "mlx5"},
                                                                                    {"mlx4_", "mlx4"},
                                                                                    {"bnxt_re", "bnxt"},
                                                                                    {"irdma", "irdma"},
                                                                                    {"i40iw", "irdma"},
                                                                                    {"qedr", "qedr"},
                                                                                    {"rxe", "rxe"},
                                                                                    {"siw", "siw"},
                                                                                    {"ionic_", "ionic"},
                                                                                    {"hfi1_", "hfi1"}}};
  for (const auto& [prefix, vendor] : kNames) {
    if (device.starts_with(prefix)) return vendor;
  }
  return {};
}

std::optional<int> best_gid_index(const std::vector<host::Gid>& gids) {
  std::optional<int> ipv4, ipv6;
  for (const host::Gid& gid : gids) {
    if (!is_usable_type(gid.type)) continue;
    if (gid.is_ipv4_mapped()) {
      ipv4 = std::min(ipv4.value_or(gid.index), gid.index);
    } else if (host::is_global_ipv6(gid.address)) {
      ipv6 = std::min(ipv6.value_or(gid.index), gid.index);
    }
  }
  return ipv4 ? ipv4 : ipv6;
}

namespace {

void add_facts(const RdmaView& view, Document& document) {
  std::size_t rows = 0;
  std::map<std::string, std::vector<host::Gid>> of_device;
  std::set<std::int64_t> mtus;
  for (const RdmaPortView& port : view.ports) {
    rows += port.rdma.gids.size();
    auto& gids = of_device[port.rdma.device];
    gids.insert(gids.end(), port.rdma.gids.begin(), port.rdma.gids.end());
    if (port.rdma.active_mtu) mtus.insert(port.rdma.active_mtu->count());
  }
  if (rows > 0) document.add_fact("gid.rows", static_cast<double>(rows));
  for (const auto& [device, gids] : of_device) {
    const auto best = best_gid_index(gids);
    if (!best) continue;
    document.add_fact(of_device.size() == 1 || device.empty() ? "gid.best_index" : "gid.best_index." + device,
                      *best);
  }
  if (mtus.size() == 1) document.add_fact("mtu.active_B", static_cast<double>(*mtus.begin()));
}

std::optional<host::Host> host_of(const RdmaView& view) {
  host::Host host;
  for (const RdmaPortView& shown : view.ports) {
    host::Port port;
    port.name = shown.netdev();
    if (!shown.psid.empty()) port.psid = shown.psid;
    port.firmware = shown.rdma.firmware;
    if (shown.vendor == "mlx4" || shown.vendor == "qedr" || shown.vendor == "siw" || shown.vendor == "hfi1") {
      port.nic = "unknown";
    } else {
      port.nic = shown.vendor;
    }
    port.rdma = shown.rdma;
    host.ports.push_back(std::move(port));
  }
  if (host.ports.empty()) return std::nullopt;
  return host;
}

}  // namespace

Document document_of(RdmaView view) {
  Document document;
  add_facts(view, document);
  document.host_part = host_of(view);
  document.content = std::move(view);
  return document;
}

}  // namespace rocetune::evidence
