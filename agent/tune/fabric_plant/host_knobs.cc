// NICs of hosts apart from DCQCN, and what the workload may do.
#include <algorithm>
#include <cmath>

#include "agent/tune/fabric_plant/knobs.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::HostParameters;
using fabric::Scenario;
using search::ChangeCost;
using search::Scale;

// A choice of all hosts that have `field` as most do. Choices outlive the maker.
KnobTableMaker::Choice of_hosts(const KnobTableMaker& maker, std::string_view field, std::string text,
                                const std::function<void(HostParameters&)>& set) {
  return {std::move(text), [members = maker.usual_hosts(field), set](Scenario& s) {
            set(s.options.host);
            for (const std::uint32_t id : members) set(s.options.own_host.at(id));
          }};
}
KnobTableMaker::TextOf text_of_host(const KnobTableMaker& maker, std::string_view field,
                                    std::function<std::string(const HostParameters&)> text) {
  return [usual = maker.usual_hosts(field).front(), text = std::move(text)](const Scenario& s) {
    return text(s.options.own_host.at(usual));
  };
}

void add_mtu(KnobTableMaker& maker) {
  std::vector<KnobTableMaker::Choice> choices;
  for (const engine::PathMtu mtu : {engine::PathMtu::b1024, engine::PathMtu::b2048, engine::PathMtu::b4096}) {
    choices.push_back(of_hosts(maker, "mtu", fmt::format("{}", engine::bytes_of(mtu)),
                               [mtu](HostParameters& h) { h.mtu = mtu; }));
  }
  maker.add_choice({.name = "hosts.mtu",
                    .meaning = "payload of an RDMA packet, bytes",
                    .cost = ChangeCost::restarts_job,
                    .standard_origin = "InfiniBand specification: path MTU 256 to 4096"},
                   Place::hosts, std::move(choices), text_of_host(maker, "mtu", host_field("mtu").text),
                   "there is nothing else it could be");
}

void add_controller(KnobTableMaker& maker) {
  using Kind = ControllerChoice::Kind;
  std::vector<KnobTableMaker::Choice> choices;
  for (const Kind kind : {Kind::dcqcn, Kind::off}) {
    choices.push_back(of_hosts(maker, "controller", std::string(to_text(kind)),
                               [kind](HostParameters& h) { h.controller.kind = kind; }));
  }
  maker.add_choice({.name = "hosts.controller",
                    .meaning = "congestion control of the NICs",
                    .standard_origin = "off is a legal outcome: Gangidi et al., SIGCOMM 2024"},
                   Place::hosts, std::move(choices),
                   text_of_host(maker, "controller", host_field("controller").text),
                   "there is nothing else it could be");
}

void add_recovery(KnobTableMaker& maker) {
  const auto text = [](const HostParameters& h) {
    return std::string(h.selective_repeat ? "selective_repeat" : "go_back_n");
  };
  maker.add_choice(
      {.name = "hosts.recovery",
       .meaning = "what is sent again after a loss: everything since, or what is missing",
       .cost = ChangeCost::restarts_job},
      Place::hosts,
      {of_hosts(maker, {}, "go_back_n", [](HostParameters& h) { h.selective_repeat = false; }),
       of_hosts(maker, {}, "selective_repeat", [](HostParameters& h) { h.selective_repeat = true; })},
      text_of_host(maker, {}, text), "there is nothing else it could be");
}

void add_storm_prevention(KnobTableMaker& maker) {
  std::vector<KnobTableMaker::Choice> choices;
  for (const Duration limit : {milliseconds(100), milliseconds(1000), seconds(8)}) {
    if (limit >= maker.scenario().limit) continue;
    choices.push_back(of_hosts(maker, "storm_prevention", to_text(limit),
                               [limit](HostParameters& h) { h.receiver.storm_prevention = limit; }));
  }
  maker.add_choice({.name = "hosts.storm_prevention",
                    .meaning = "after which time a NIC stops to hold its switch, and drops instead",
                    .standard_origin = "mlx5: 80 ms to 8 s, 100 ms as auto"},
                   Place::hosts, std::move(choices),
                   text_of_host(maker, "storm_prevention", host_field("storm_prevention").text),
                   "a run ends before mlx5's shortest (80 ms) acts");
}

void add_ack_timeout(KnobTableMaker& maker) {
  maker.add_host_number(
      {.name = "hosts.ack_timeout",
       .meaning = "after 4.096 us times 2 to this power unanswered packets are sent again",
       .min = 8,
       .max = 20,
       .step = 1,
       .cost = ChangeCost::restarts_job,
       .standard = 14,
       .standard_origin = "InfiniBand specification, 9.7.6.1.3; ibv_modify_qp"},
      {}, [](const HostParameters& h) { return double(h.ack_timeout); },
      [](HostParameters& h, double v) { h.ack_timeout = static_cast<std::uint8_t>(v); });
}

}  // namespace

void add_host_knobs(KnobTableMaker& maker) {
  add_mtu(maker);
  add_controller(maker);
  add_recovery(maker);
  add_storm_prevention(maker);
  add_ack_timeout(maker);
}

void add_workload_knobs(KnobTableMaker& maker, bool is_any_flow) {
  if (!is_any_flow) {
    maker.leave_out("workload.queue_pairs", "jobs have one queue pair for each pair of ranks");
    return maker.leave_out("workload.message", "messages of jobs are cut as their algorithm says");
  }
  FabricKnob queue_pairs;
  queue_pairs.place = Place::workload;
  queue_pairs.knob = {.name = "workload.queue_pairs",
                      .meaning = "into how many queue pairs each flow is cut",
                      .min = 1,
                      .max = 8,
                      .step = 1,
                      .cost = ChangeCost::restarts_job,
                      .start = 1,
                      .start_origin = "a flow of the file is one",
                      .standard = 1,
                      .standard_origin = "NCCL_IB_QPS_PER_CONNECTION"};
  queue_pairs.read = [](const Scenario&) { return 1.0; };
  queue_pairs.write = [](Scenario& s, double value) {
    const auto parts = static_cast<std::uint64_t>(value);
    std::vector<fabric::Flow> cut;
    for (const fabric::Flow& flow : s.flows) {
      const std::uint64_t pieces = std::min(parts, std::max<std::uint64_t>(flow.bytes, 1));
      for (std::uint64_t i = 0; i < pieces; ++i) {
        fabric::Flow piece = flow;
        piece.bytes = flow.bytes / pieces + (i < flow.bytes % pieces ? 1 : 0);
        cut.push_back(piece);
      }
    }
    s.flows = std::move(cut);
  };
  maker.add(std::move(queue_pairs));

  FabricKnob message;
  message.place = Place::workload;
  message.knob = {.name = "workload.message",
                  .meaning = "how large a message (chunk) flows are cut into",
                  .min = 16 * 1024,
                  .max = 4 * 1024 * 1024,
                  .step = 16 * 1024,
                  .scale = Scale::logarithmic,
                  .unit = "bytes",
                  .cost = ChangeCost::restarts_job,
                  .start_origin = maker.origin("flows.message"),
                  .standard = 1 << 20,
                  .standard_origin = "NCCL_BUFFSIZE 4 MiB in steps of a quarter"};
  const std::vector<fabric::Flow>& flows = maker.scenario().flows;
  message.knob.start = flows.empty() ? double(fabric::Flow{}.message) : double(flows.front().message);
  message.read = [](const Scenario& s) {
    return s.flows.empty() ? kUnknownValue : double(s.flows.front().message);
  };
  message.write = [](Scenario& s, double value) {
    for (fabric::Flow& flow : s.flows) flow.message = static_cast<std::uint32_t>(value);
  };
  maker.add(std::move(message));
}

}  // namespace rocetune::fabric_plant
