#include "tests/agent/tune/twin/hidden_hosts.h"

#include <algorithm>

namespace rocetune::twin {

std::vector<tune::FoundHost> two_machines() {
  std::vector<tune::FoundHost> out;
  for (const char* name : {"h1", "h2"}) {
    host::Host host = tune::fixture_host("mlx5", name);
    for (host::Port& port : host.ports) {
      if (!port.cc_params) continue;
      (*port.cc_params)["rp_time_reset"] = 1500;
      (*port.cc_params)["rp_byte_reset"] = 8'000'000;
    }
    out.push_back(tune::found(host));
  }
  return out;
}

tune::HostSpace space_of(std::vector<tune::FoundHost> hosts,
                         const std::vector<tune::VariedVariable>& varied) {
  const tune::HostSpaceLimits limits{.mtus = {Bytes(1500), Bytes(4200), Bytes(9000)},
                                     .safe_factor = 10,
                                     .profiles = {"roce-dscp26-prio3", "lossy"}};
  auto space = tune::HostSpace::make(
      std::move(hosts), varied, limits, ConfigFiles(), tune::guardrails(),
      {"take-dcbx", "inexact-revert", "bounce-default-route", "bounce-ssh", "bounce-storage", "other-owner"});
  EXPECT_TRUE(space) << (space ? "" : space.error().text());
  return std::move(*space);
}

Twin twin_of(const tune::HostSpace& hosts, const std::string& text) {
  auto twin = Twin::open(text, "star.toml", hosts, {"workload"}, ConfigFiles());
  EXPECT_TRUE(twin) << (twin ? "" : twin.error().text());
  return std::move(*twin);
}

HiddenHosts::HiddenHosts(const tune::HostSpace& hosts, const std::string& fabric,
                         std::vector<search::Objective> objectives, bool is_blind)
    : hosts_(hosts),
      hidden_(twin_of(hosts, fabric)),
      objectives_(std::move(objectives)),
      is_blind_(is_blind) {}

Expected<search::Observation> HiddenHosts::observe(const search::Request& request, std::stop_token) {
  search::Observation out = hidden_.run({request.candidate, 0, request.repeat, {}});
  for (const search::ObjectiveKind& kind : search::objective_kinds()) {
    if (std::ranges::find(objectives_, kind.objective) == objectives_.end())
      out.objectives[kind.objective].reset();
  }
  if (is_blind_) out.counter_deltas.clear();
  out.took_ns = 1;
  return out;
}

std::deque<search::Trial> baseline_of(HiddenHosts& hosts) {
  std::deque<search::Trial> out;
  for (std::uint64_t repeat = 100; repeat < 103; ++repeat) {
    search::Trial trial{
        .number = static_cast<int>(out.size()) + 1, .candidate = hosts.space().start(), .repeat = repeat};
    trial.observations.emplace_back(*hosts.observe({trial.candidate, 0, repeat, false}, {}));
    out.push_back(std::move(trial));
  }
  return out;
}

const Parameter* parameter_of(const TwinReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.parameters, name, &Parameter::name);
  return found == report.parameters.end() ? nullptr : &*found;
}

}  // namespace rocetune::twin
