#include "dataplane/fabric/theory.h"

#include <fmt/core.h>

#include <algorithm>

#include "congestion/dcqcn/fluid_convergence.h"
#include "congestion/dcqcn/fluid_stability.h"
#include "congestion/dcqcn/fluid_trajectory.h"

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

// What the scenario is to the model; error: why it is nothing to it.
tl::expected<dcqcn::FluidModel, std::string> model_of(const Scenario& scenario) {
  const HostParameters& host = scenario.options.host;
  if (scenario.topology.switches != 1)
    return tl::unexpected(fmt::format("found {} switches, allowed: one", scenario.topology.switches));
  if (!scenario.jobs.empty()) return tl::unexpected(std::string("found jobs, allowed: flows alone"));
  if (!scenario.options.faults.empty()) return tl::unexpected(std::string("found events, allowed: none"));
  if (host.controller.kind != ControllerChoice::Kind::dcqcn)
    return tl::unexpected(std::string("allowed for hosts.controller: dcqcn"));
  if (host.echoes_ce)
    return tl::unexpected(
        std::string("found compat = \"hpcc\", where CE is echoed and no CNP sent, allowed: none"));
  const auto receiver = common_receiver(scenario.flows);
  if (!receiver)
    return tl::unexpected(
        std::string("allowed: two or more flows of different hosts to one, all from the same moment on"));
  const auto link = common_link(scenario.topology, *receiver);
  if (!link) return tl::unexpected(std::string("allowed: links that are all alike and lose nothing"));
  const dcqcn::Parameters parameters{host.controller.dcqcn, host.notification,
                                     scenario.options.switches.congestion_point_at(link->rate)};
  // The mark travels to the receiver, the CNP back to the sender, what it changes to the switch.
  auto model = dcqcn::FluidModel::of(parameters,
                                     {.link = link->rate,
                                      .flows = static_cast<int>(scenario.flows.size()),
                                      .packet = Bytes(static_cast<std::int64_t>(engine::bytes_of(host.mtu))),
                                      .loop_delay = link->delay * 4});
  if (model) return *model;
  const dcqcn::OutsideModel& outside = model.error();
  return tl::unexpected(
      fmt::format("{}: found {}, allowed: {}", outside.parameter, outside.found, outside.allowed));
}

Theory theory_of(const dcqcn::FluidModel& model, std::size_t flows) {
  Theory out{.flows = flows};
  const auto rest = model.fixed_point();
  if (!rest) {
    out.says = words(rest.error());
    return out;
  }
  out.queue_bytes = rest->queue.count();
  out.marking = rest->marking.value();
  out.says = "a queue at rest";
  if (const auto loop = dcqcn::open_loop(model)) {
    if (const auto margin = dcqcn::phase_margin(*loop)) {
      out.phase_margin_degrees = margin->degrees;
      out.says = margin->degrees > 0 ? "a queue at rest, small disturbances die out"
                                     : "a queue that swings around this by itself";
    }
  }
  return out;
}

}  // namespace

std::optional<Theory> theory_of(const Scenario& scenario) {
  const auto model = model_of(scenario);
  if (!model) return std::nullopt;
  return theory_of(*model, scenario.flows.size());
}

Expected<FluidReport> fluid_report(const Scenario& scenario) {
  const auto model = model_of(scenario);
  if (!model) {
    return fail(ErrorKind::bad_input, "{}: the fluid model does not describe this scenario: {}",
                scenario.name, model.error());
  }
  FluidReport out{.rest = theory_of(*model, scenario.flows.size())};
  if (const auto rest = model->fixed_point()) {
    out.rate_gbps = static_cast<double>(rest->rate.count()) / 1e9;
    out.target_gbps = static_cast<double>(rest->target.count()) / 1e9;
    out.alpha = rest->alpha.value();
  }
  if (const auto time = dcqcn::convergence_time(*model)) out.convergence_us = time->seconds() * 1e6;
  dcqcn::FluidTrajectory trajectory(*model, model->line_rate_start());
  trajectory.measure(milliseconds(400));
  const dcqcn::FluidStretch steady = trajectory.measure(milliseconds(200));
  out.steady = {.queue_mean_bytes = steady.queue_mean.count(),
                .queue_deviation_bytes = steady.queue_deviation.count(),
                .queue_minimum_bytes = steady.queue_minimum.count(),
                .queue_maximum_bytes = steady.queue_maximum.count(),
                .utilisation = steady.utilisation.value()};
  return out;
}

}  // namespace rocetune::fabric
