#include "agent/host/interfaces.h"

namespace rocetune::host {
namespace {

InterfaceState::State state_of(Unavailable::Kind kind) {
  switch (kind) {
    case Unavailable::Kind::absent:
      return InterfaceState::State::absent;
    case Unavailable::Kind::denied:
      return InterfaceState::State::denied;
    case Unavailable::Kind::failed:
      return InterfaceState::State::failed;
    case Unavailable::Kind::not_read:
      break;
  }
  return InterfaceState::State::not_read;
}

class Collector {
 public:
  explicit Collector(std::vector<InterfaceState>& out) : out_(out) {}
  void begin_port(const std::string& port) { port_ = port; }
  template <class T>
  void add(const char* name, const Observed<T>& fact) {
    InterfaceState state{.port = port_, .name = name};
    if (!fact) {
      state.state = state_of(fact.error().kind);
      state.why = fact.error().why;
    }
    out_.push_back(std::move(state));
  }

 private:
  std::vector<InterfaceState>& out_;
  std::string port_;
};

void add_port(const Port& port, Collector& out) {
  out.begin_port(port.name);
  out.add("DCB netlink: DCBX mode", port.dcb.dcbx);
  out.add("DCB netlink: PFC", port.dcb.pfc);
  out.add("DCB netlink: ETS", port.dcb.ets);
  out.add("DCB netlink: app table", port.dcb.app);
  out.add("DCB netlink: buffers", port.dcb.buffers);
  out.add("DCB netlink: rate limits", port.dcb.max_rate);
  out.add("DCB netlink: what the peer announced", port.dcb.peer_pfc);
  out.add("trust", port.dcb.trust);
  out.add("ethtool: global pause", port.pause);
  out.add("ethtool: pfc-prevention-tout", port.pfc_prevention_ms);
  out.add("congestion-control parameters", port.cc_params);
  out.add("congestion control in force", port.congestion_control);
  out.add("OFED: ecn/", port.ecn_enable);
  out.add("devlink: parameters", port.devlink_params);
  out.add("devlink: eswitch mode", port.eswitch_mode);
  out.add("PCIe", port.pcie);
  if (port.pcie) {
    out.add("PCIe config space", port.pcie->max_read_request);
    out.add("PCIe ACS of the bridges above", port.pcie->acs_redirecting_bridges);
  }
  out.add("RDMA", port.rdma);
  if (port.rdma) {
    out.add("RDMA: lifespan of hw_counters", port.rdma->counter_lifespan_ms);
    out.add("configfs: rdma_cm default ToS", port.rdma->cm_default_tos);
    out.add("OFED: tc/ global traffic class", port.rdma->global_traffic_class);
  }
  out.add("routes, ssh sessions, mounts", port.attachments);
}

}  // namespace

std::vector<InterfaceState> interfaces_of(const Host& host) {
  std::vector<InterfaceState> out;
  Collector collector(out);
  collector.add("kernel lockdown", host.lockdown);
  collector.add("hypervisor", host.hypervisor);
  collector.add("kernel command line", host.kernel_command_line);
  collector.add("IOMMU", host.iommu);
  collector.add("RDMA netlink: namespace mode", host.rdma_namespaces_exclusive);
  collector.add("GPUs", host.gpus);
  collector.add("NIC and GPU affinity", host.affinity);
  collector.add("owners of network settings", host.owners);
  collector.add("boot unit", host.boot_unit_installed);
  for (const Port& port : host.ports) add_port(port, collector);
  return out;
}

}  // namespace rocetune::host
