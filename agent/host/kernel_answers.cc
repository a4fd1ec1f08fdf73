#include "agent/host/kernel_answers.h"

#include <optional>

#include "agent/host/dcb_netlink.h"
#include "agent/host/ethtool_netlink.h"
#include "agent/host/host_files.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::host {
namespace {

// The sockets that one question per port needs; one that does not open answers with its own error.
struct PortSockets {
  Expected<EthtoolSocket> ethtool = EthtoolSocket::open();
  Expected<EthtoolNetlinkSocket> ethtool_netlink = EthtoolNetlinkSocket::open();
  Expected<DcbSocket> dcb = DcbSocket::open();
};

template <class Socket, class Ask>
auto ask(Expected<Socket>& socket, const Ask& question)
    -> Observed<typename decltype(question(*socket))::value_type> {
  if (!socket) return unavailable(socket.error());
  return observed(question(*socket));
}

PortAnswers ask_port(PortSockets& sockets, const std::string& name) {
  PortAnswers out;
  out.driver = ask(sockets.ethtool, [&](EthtoolSocket& s) { return s.driver_info(name); });
  out.link = ask(sockets.ethtool, [&](EthtoolSocket& s) { return s.link_settings(name); });
  out.lanes = ask(sockets.ethtool_netlink, [&](EthtoolNetlinkSocket& s) { return s.lanes(name); });
  out.fec = ask(sockets.ethtool, [&](EthtoolSocket& s) { return s.active_fec(name); });
  out.pause = ask(sockets.ethtool, [&](EthtoolSocket& s) { return s.pause(name); });
  out.pfc_prevention_ms = ask(sockets.ethtool, [&](EthtoolSocket& s) { return s.pfc_prevention(name); });
  out.dcb = ask(sockets.dcb, [&](DcbSocket& s) { return s.read(name); });
  return out;
}

void ask_routes(KernelAnswers& out) {
  auto socket = RouteSocket::open();
  out.links = ask(socket, [](RouteSocket& s) { return s.links(); });
  out.addresses = ask(socket, [](RouteSocket& s) { return s.addresses(); });
  out.routes = ask(socket, [](RouteSocket& s) { return s.routes(); });
}

void ask_rdma(KernelAnswers& out) {
  auto socket = RdmaSocket::open();
  out.rdma_namespaces_exclusive = ask(socket, [](RdmaSocket& s) { return s.namespaces_exclusive(); });
  const auto devices = ask(socket, [](RdmaSocket& s) { return s.devices(); });
  if (!devices) {
    out.rdma = tl::unexpected(devices.error());
    return;
  }
  std::vector<RdmaAnswers> answers;
  for (const RdmaDeviceEntry& device : *devices) {
    RdmaAnswers answer{.device = device, .links = {}};
    // A device that went away meanwhile has no links.
    if (auto links = socket->links(device.index)) answer.links = std::move(*links);
    answers.push_back(std::move(answer));
  }
  out.rdma = std::move(answers);
}

}  // namespace

KernelAnswers ask_kernel() {
  KernelAnswers out;
  ask_routes(out);
  if (out.links) {
    PortSockets sockets;
    for (const LinkEntry& link : *out.links) {
      if (link.is_ethernet) out.ports[link.name] = ask_port(sockets, link.name);
    }
  }
  ask_rdma(out);
  auto devlink = DevlinkSocket::open();
  out.devlink = ask(devlink, [](DevlinkSocket& s) { return s.devices(); });
  return out;
}

std::string to_json_text(const KernelAnswers& answers) {
  JsonWriter out;
  to_json(out, answers);
  return out.take();
}

Expected<KernelAnswers> kernel_answers_from_json(std::string_view text, const std::string& file) {
  return parse_json(text, file).and_then([&](const Json& json) {
    return from_json<KernelAnswers>(json, JsonPath(file));
  });
}

}  // namespace rocetune::host
