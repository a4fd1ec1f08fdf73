// Everything the kernel answers by socket about one network namespace, as plain data: rtnetlink, DCB,
// ethtool, RDMA netlink, devlink. The readers take facts from here and from files; where the answers come
// from (the running kernel, or a recording beside a tree of files) they do not know.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/host/devlink_netlink.h"
#include "agent/host/ethtool_ioctl.h"
#include "agent/host/model.h"
#include "agent/host/rdma_netlink.h"
#include "agent/host/route_netlink.h"

namespace rocetune::host {

// What was asked about one netdev.
struct PortAnswers {
  Observed<DriverInfo> driver = not_read();
  Observed<LinkSettings> link = not_read();
  Observed<std::uint32_t> lanes = not_read();
  Observed<std::string> fec = not_read();
  Observed<GlobalPause> pause = not_read();
  Observed<std::uint16_t> pfc_prevention_ms = not_read();
  Observed<Dcb> dcb = not_read();
  bool operator==(const PortAnswers&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("driver", self.driver...);
    visit("link", self.link...);
    visit("lanes", self.lanes...);
    visit("fec", self.fec...);
    visit("pause", self.pause...);
    visit("pfc_prevention_ms", self.pfc_prevention_ms...);
    visit("dcb", self.dcb...);
  }
};

// One RDMA device and its ports.
struct RdmaAnswers {
  RdmaDeviceEntry device;
  std::vector<RdmaLinkEntry> links;
  bool operator==(const RdmaAnswers&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("device", self.device...);
    visit("links", self.links...);
  }
};

struct KernelAnswers {
  Observed<std::vector<LinkEntry>> links = not_read();
  Observed<std::vector<AddressEntry>> addresses = not_read();
  Observed<std::vector<RouteEntry>> routes = not_read();
  std::map<std::string, PortAnswers> ports;  // by netdev, Ethernet links only
  Observed<std::vector<RdmaAnswers>> rdma = not_read();
  Observed<bool> rdma_namespaces_exclusive = not_read();
  Observed<std::vector<DevlinkEntry>> devlink = not_read();
  bool operator==(const KernelAnswers&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("links", self.links...);
    visit("addresses", self.addresses...);
    visit("routes", self.routes...);
    visit("ports", self.ports...);
    visit("rdma", self.rdma...);
    visit("rdma_namespaces_exclusive", self.rdma_namespaces_exclusive...);
    visit("devlink", self.devlink...);
  }
};

// Asks the running kernel about the network namespace of the calling thread.
KernelAnswers ask_kernel();

// A recording made by to_json_text. Errors: bad_input with path and place.
std::string to_json_text(const KernelAnswers& answers);
Expected<KernelAnswers> kernel_answers_from_json(std::string_view text, const std::string& file);

}  // namespace rocetune::host
