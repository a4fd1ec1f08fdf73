#include "dataplane/fabric/theory.h"

#include <algorithm>

#include "congestion/dcqcn/fluid_stability.h"

namespace rocetune::fabric {
namespace {

// The one host that everything goes to; none if there are several, or if two flows share a sender.
std::optional<NodeId> common_receiver(const std::vector<Flow>& flows) {
  if (flows.size() < 2) return std::nullopt;
  std::vector<NodeId> senders;
  for (const Flow& flow : flows) {
    if (flow.to != flows.front().to || flow.start != flows.front().start) return std::nullopt;
    senders.push_back(flow.from);
  }
  std::ranges::sort(senders);
  if (std::ranges::adjacent_find(senders) != senders.end()) return std::nullopt;
  return flows.front().to;
}

// The link of the receiver, if all links are alike.
std::optional<LinkSpec> common_link(const Topology& topology, NodeId host) {
  std::optional<LinkSpec> out;
  for (const LinkSpec& link : topology.links) {
    if (link.rate != topology.links.front().rate || link.delay != topology.links.front().delay ||
        link.is_lossy())
      return std::nullopt;
    if (link.a == host || link.b == host) out = link;
  }
  return out;
}

std::string words(const dcqcn::NoFixedPoint& none) {
  using Reason = dcqcn::NoFixedPoint::Reason;
  switch (none.reason) {
    case Reason::above_kmax:
      return "no rest below kmax: the queue runs against it";
    case Reason::below_minimum_rate:
      return "no rest: a flow's share is below the rate it may be cut to, the queue grows without end";
    case Reason::at_maximum_rate:
      break;
  }
  return "no rest: it is not the marks that hold the flows back";
}

}  // namespace

std::optional<Theory> theory_of(const Scenario& scenario) {
  const HostParameters& host = scenario.options.host;
  if (scenario.topology.switches != 1 || !scenario.jobs.empty() || !scenario.options.faults.empty() ||
      host.controller.kind != ControllerChoice::Kind::dcqcn || host.echoes_ce)
    return std::nullopt;
  const auto receiver = common_receiver(scenario.flows);
  if (!receiver) return std::nullopt;
  const auto link = common_link(scenario.topology, *receiver);
  if (!link) return std::nullopt;
  const dcqcn::Parameters parameters{host.controller.dcqcn, host.notification,
                                     scenario.options.switches.congestion_point_at(link->rate)};
  // The mark travels to the receiver, the CNP back to the sender, what it changes to the switch.
  const auto model = dcqcn::FluidModel::of(
      parameters, {.link = link->rate,
                   .flows = static_cast<int>(scenario.flows.size()),
                   .packet = Bytes(static_cast<std::int64_t>(engine::bytes_of(host.mtu))),
                   .loop_delay = link->delay * 4});
  if (!model) return std::nullopt;
  Theory out{.flows = scenario.flows.size()};
  const auto rest = model->fixed_point();
  if (!rest) {
    out.says = words(rest.error());
    return out;
  }
  out.queue_bytes = rest->queue.count();
  out.marking = rest->marking.value();
  out.says = "a queue at rest";
  if (const auto loop = dcqcn::open_loop(*model)) {
    if (const auto margin = dcqcn::phase_margin(*loop)) {
      out.phase_margin_degrees = margin->degrees;
      out.says = margin->degrees > 0 ? "a queue at rest, small disturbances die out"
                                     : "a queue that swings around this by itself";
    }
  }
  return out;
}

}  // namespace rocetune::fabric
