#include "agent/virtual_host/host_facts.h"

#include <fmt/core.h>

#include "congestion/dcqcn/parameter_table.h"
#include "dataplane/fabric/far_ends.h"

namespace rocetune::virtual_host {
namespace {

using fabric::HostParameters;
using fabric::NodeId;

constexpr Bytes kLargestMtu{9000};
constexpr std::uint8_t kLosslessCapable = 8;

bool is_infiniband(const HostParameters& p) {
  return p.receiver.buffer.flow_control == fabric::FlowControl::credits;
}

std::string no_ethernet() { return "the link is InfiniBand: credits instead of PFC, no class map of DSCPs"; }

template <class T>
Observed<T> on_ethernet(const HostParameters& p, T value) {
  if (is_infiniband(p)) return absent(no_ethernet());
  return value;
}

std::uint32_t address_of(NodeId id) { return fabric::HostNode::address_of(id).v4_value(); }

// Entries that lead away from priority 0, and where data and CNPs go in any case.
std::vector<host::AppEntry> app_entries(const fabric::DscpMap& map, const HostParameters& p) {
  std::vector<host::AppEntry> out;
  for (int dscp = 0; dscp < Dscp::kCount; ++dscp) {
    const Priority priority = map[static_cast<std::size_t>(dscp)];
    const bool is_used = Dscp(dscp) == p.data_dscp || Dscp(dscp) == p.notification.cnp_dscp;
    if (priority == Priority(0) && !is_used) continue;
    out.push_back({host::AppSelector::dscp, static_cast<std::uint16_t>(dscp), priority});
  }
  return out;
}

host::Pfc pfc_of(const fabric::HostNode& node, const HostParameters& p) {
  host::Pfc out{.enabled = p.receiver.buffer.lossless, .capable = kLosslessCapable};
  out.requests = node.counters().pauses_sent.frames;
  out.indications = node.counters().pauses_received.frames;
  return out;
}

host::Ets ets_of(const EtsConfig& config, const ClassOfPriority& class_of) {
  host::Ets out;
  out.tc_of_priority = class_of;
  for (std::size_t i = 0; i < config.classes.size(); ++i) {
    out.tsa[i] = config.classes[i].strict ? host::Tsa::strict : host::Tsa::ets;
    out.tx_share_percent[i] = static_cast<std::uint8_t>(config.classes[i].share_percent);
  }
  return out;
}

host::Dcb dcb_of(const FabricRun& run, NodeId id, const HostParameters& p) {
  host::Dcb out;
  out.dcbx = on_ethernet(p, host::DcbxMode{.host = true, .ieee = true});
  out.pfc = on_ethernet(p, pfc_of(run.network().host(id), p));
  out.app = on_ethernet(p, app_entries(p.priority_of, p));
  out.trust = on_ethernet(p, host::Trust::dscp);
  out.ets = on_ethernet(p, ets_of(p.ets, p.class_of));
  out.buffers = absent(
      "a NIC of the fabric has one pool with dynamic thresholds (hosts.receive_buffer, receive_headroom), no "
      "buffers by priority");
  out.max_rate = absent("the fabric has no limits of traffic classes");
  if (is_infiniband(p)) {
    out.peer_pfc = absent(no_ethernet());
    out.peer_app = absent(no_ethernet());
    out.peer_ets = absent(no_ethernet());
    return out;
  }
  const fabric::FarEnds far_ends(run.scenario().topology);
  const fabric::PortPlace peer = far_ends.of({id, 0});
  const fabric::SwitchParameters& there =
      run.network().switch_at(far_ends.switch_index(peer.node)).parameters();
  out.peer_pfc = host::Pfc{.enabled = there.ingress.lossless, .capable = kLosslessCapable};
  out.peer_app = app_entries(there.map_at(peer.port), p);
  out.peer_ets = ets_of(there.ets, a_class_each());
  return out;
}

host::Link link_of(const fabric::HostNode& node) {
  host::Link out{.admin_up = true, .carrier = node.is_link_up(0)};
  if (out.carrier) out.speed = node.link_rate(0);
  out.full_duplex = true;
  out.autonegotiation = false;
  // Once when it came up, and for each failure once down and, unless it is down now, once up.
  out.carrier_changes = 1 + 2 * node.link_downs() - (out.carrier ? 0 : 1);
  return out;
}

host::RdmaPort rdma_of(const fabric::HostNode& node, NodeId id, const HostParameters& p) {
  host::RdmaPort out{.device = kDevice, .port = 1, .driver = "rocetune engine"};
  out.link_layer = is_infiniband(p) ? host::LinkLayer::infiniband : host::LinkLayer::ethernet;
  out.state = node.is_link_up(0) ? "ACTIVE" : "DOWN";
  out.active_mtu = Bytes(engine::bytes_of(p.mtu));
  out.max_mtu = Bytes(engine::bytes_of(engine::PathMtu::b4096));
  out.rate = node.link_rate(0);
  const std::uint32_t v4 = address_of(id);
  if (!is_infiniband(p)) {
    out.gids.push_back(
        {.index = 0,
         .type = host::GidType::roce_v2,
         .address = fmt::format("0000:0000:0000:0000:0000:ffff:{:04x}:{:04x}", v4 >> 16, v4 & 0xFFFF),
         .netdev = kPort});
  }
  out.counter_lifespan_ms = 0;
  out.cm_default_tos = TosByte(p.data_dscp, Ecn::ect0);
  out.cm_default_mode = "RoCE v2";
  out.global_traffic_class = absent("connections of the fabric have the class of hosts.dscp");
  return out;
}

// Those of the two points that live in a NIC. CNPs take their priority from the map, as mlx5 with
// np_cnp_prio_mode 1.
std::map<std::string, std::int64_t> cc_params_of(const HostParameters& p) {
  const dcqcn::Parameters parameters{.rp = p.controller.dcqcn, .np = p.notification, .cp = {}};
  std::map<std::string, std::int64_t> out{{"np_cnp_prio_mode", 1}};
  for (const dcqcn::Parameter& row : dcqcn::parameter_table()) {
    if (row.name.starts_with("cp_") || row.name == "np_cnp_prio") continue;
    out.emplace(row.name, row.read(parameters));
  }
  return out;
}

host::CongestionControl algorithm_of(const HostParameters& p) {
  using Kind = ControllerChoice::Kind;
  switch (p.controller.kind) {
    case Kind::dcqcn:
      return host::CongestionControl::dcqcn;
    case Kind::swift:
    case Kind::timely:
      return host::CongestionControl::programmable;
    case Kind::off:
    case Kind::fixed:
      break;
  }
  return host::CongestionControl::off;
}

Observed<std::uint16_t> prevention_of(const HostParameters& p) {
  if (is_infiniband(p)) return absent(no_ethernet());
  const Duration limit = p.receiver.storm_prevention;
  if (limit == Duration::max()) return std::uint16_t{0};
  const std::int64_t ms = limit / milliseconds(1);
  if (limit % milliseconds(1) != Duration(0) || ms > 65534) {
    return absent(fmt::format("hosts.storm_prevention is {}, and what shows it counts up to 65534 whole ms",
                              to_text(limit)));
  }
  return static_cast<std::uint16_t>(ms);
}

host::Port port_of(const FabricRun& run, NodeId id) {
  const HostParameters& p = parameters_of(run.scenario(), id);
  const fabric::HostNode& node = run.network().host(id);
  host::Port out;
  out.name = kPort;
  out.ifindex = 1;
  out.nic = kNic;
  out.driver = "rocetune fabric";
  // Locally administered; the last four bytes are the address.
  const std::uint32_t v4 = address_of(id);
  out.mac =
      fmt::format("02:00:{:02x}:{:02x}:{:02x}:{:02x}", v4 >> 24, v4 >> 16 & 255, v4 >> 8 & 255, v4 & 255);
  out.addresses = {to_text(fabric::HostNode::address_of(id)) + "/8"};
  out.mtu = netdev_mtu_for(p.mtu);
  out.max_mtu = kLargestMtu;
  out.link = link_of(node);
  out.pcie = absent("the fabric has no PCIe; hosts.receive_rate is what a host takes");
  out.rdma = rdma_of(node, id, p);
  out.dcb = dcb_of(run, id, p);
  out.pause = host::GlobalPause{};
  out.pfc_prevention_ms = prevention_of(p);
  out.cc_params = cc_params_of(p);
  out.congestion_control = algorithm_of(p);
  out.ecn_enable = absent("a vendor driver's switches; the fabric has hosts.controller");
  out.devlink_params = absent("a host of the virtual fabric has no devlink");
  out.eswitch_mode = absent("a host of the virtual fabric has no eswitch");
  out.attachments = host::Attachments{};
  return out;
}

}  // namespace

Bytes netdev_mtu_for(engine::PathMtu mtu) {
  constexpr Bytes kAroundPayload{96};
  if (mtu == engine::PathMtu::b4096) return kLargestMtu;
  if (mtu == engine::PathMtu::b1024) return Bytes(1500);
  return Bytes(engine::bytes_of(mtu)) + kAroundPayload;
}

host::Host host_facts(const FabricRun& run, fabric::NodeId id) {
  const auto none = [](const char* what) {
    return absent(fmt::format("a host of the virtual fabric has no {}", what));
  };
  host::Host out;
  out.name = fmt::format("{}.{}", name_of(id), run.scenario().name);
  out.taken_at_unix_ns = run.now().since_origin() / nanoseconds(1);
  out.lockdown = none("kernel");
  out.hypervisor = none("machine under it");
  out.kernel_command_line = none("kernel");
  out.iommu = none("IOMMU");
  out.rdma_namespaces_exclusive = none("network namespaces");
  out.unseen_namespaces = std::vector<std::string>();
  out.gpus = none("GPUs");
  out.affinity = none("GPUs");
  out.owners = std::vector<host::Owner>();
  out.boot_unit_installed = none("boot: its settings are the scenario's");
  out.state_confirmed = none("boot: its settings are the scenario's");
  out.ports.push_back(port_of(run, id));
  return out;
}

}  // namespace rocetune::virtual_host
