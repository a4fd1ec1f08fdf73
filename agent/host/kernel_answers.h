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
  static constexpr auto fields() {
    return std::tuple{
        field("driver", &PortAnswers::driver), field("link", &PortAnswers::link),
        field("lanes", &PortAnswers::lanes),   field("fec", &PortAnswers::fec),
        field("pause", &PortAnswers::pause),   field("pfc_prevention_ms", &PortAnswers::pfc_prevention_ms),
        field("dcb", &PortAnswers::dcb)};
  }
};

// One RDMA device and its ports.
struct RdmaAnswers {
  RdmaDeviceEntry device;
  std::vector<RdmaLinkEntry> links;
  bool operator==(const RdmaAnswers&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("device", &RdmaAnswers::device), field("links", &RdmaAnswers::links)};
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
  static constexpr auto fields() {
    return std::tuple{field("links", &KernelAnswers::links),
                      field("addresses", &KernelAnswers::addresses),
                      field("routes", &KernelAnswers::routes),
                      field("ports", &KernelAnswers::ports),
                      field("rdma", &KernelAnswers::rdma),
                      field("rdma_namespaces_exclusive", &KernelAnswers::rdma_namespaces_exclusive),
                      field("devlink", &KernelAnswers::devlink)};
  }
};

// Asks the running kernel about the network namespace of the calling thread.
KernelAnswers ask_kernel();

// A recording made by to_json_text. Errors: bad_input with path and place.
std::string to_json_text(const KernelAnswers& answers);
Expected<KernelAnswers> kernel_answers_from_json(std::string_view text, const std::string& file);

}  // namespace rocetune::host
