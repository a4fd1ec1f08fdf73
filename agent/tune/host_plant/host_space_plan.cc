// What a candidate means for a host: the backward half of HostSpace.
#include "agent/tune/host_plant/host_space.h"
#include "agent/tune/plan_text.h"
#include "agent/tune/planner.h"

namespace rocetune::tune {
namespace {

search::ChangeCost cost_of(const Change& change, bool interrupts_link) {
  if (change.revert == Revert::needs_driver_reload) return search::ChangeCost::reloads_driver;
  return interrupts_link ? search::ChangeCost::bounces_link : search::ChangeCost::none;
}

std::string commands_in_a_row(const Change& change, const host::Port& port) {
  std::string out;
  for (const std::string& command : commands_of(change, port, false))
    out += (out.empty() ? "" : "; ") + command;
  return out;
}

}  // namespace

search::ChangeCost cost_of(const Plan& plan) {
  search::ChangeCost cost = search::ChangeCost::none;
  for (const Step& step : plan.steps) {
    for (const Change& change : step.changes) cost = std::max(cost, cost_of(change, step.interrupts_link));
  }
  return cost;
}

Expected<Plan> HostSpace::plan(const search::Candidate& candidate, std::size_t host,
                               std::int64_t now_unix_ns) const {
  const FoundHost& found = hosts_[host];
  std::vector<WantedSetting> wanted;
  std::vector<Expectation> expectations;
  const auto want = [&](const host::Knob& knob, const host::KnobValue& value, const std::string& rule,
                        const std::string& why) {
    wanted.push_back({knob, value, rule, why});
  };
  for (std::size_t k = 0; k < turned_.size(); ++k) {
    const double value = candidate.values[k];
    if (value == knobs_[k].start || !space_.is_alive(k, candidate)) continue;
    const Turned& turned = turned_[k];
    switch (turned.what) {
      case Turned::What::fix:
        for (const auto& [h, change] : turned.fix.changes) {
          if (h == host) want(change.knob, change.after, turned.fix.rule, turned.fix.why);
        }
        break;
      case Turned::What::profile: {
        auto plan = make_plan(found.host, profiles_[static_cast<std::size_t>(value) - 1], nics(), found.ports,
                              now_unix_ns);
        if (!plan) return plan;
        expectations = plan->expectations;
        for (const Step& step : plan->steps) {
          for (const Change& change : step.changes) want(change.knob, change.after, change.rule, change.why);
        }
        break;
      }
      case Turned::What::mtu:
        for (const std::string& port : found.ports) {
          want({port, host::KnobKind::mtu, ""},
               std::int64_t{std::stoll(knobs_[k].choices[static_cast<std::size_t>(value)])}, "MTU-1",
               "tried by tune");
        }
        break;
      case Turned::What::parameter:
        for (const std::string& port : found.ports) {
          want({port, host::KnobKind::cc_param, turned.name}, static_cast<std::int64_t>(value), "",
               "tried by tune");
        }
        break;
      case Turned::What::variable:
        break;
    }
  }
  auto out = settings_plan(found.host, wanted, kTunePlanName, nics(), now_unix_ns);
  if (out && !out->is_empty()) out->expectations = std::move(expectations);
  return out;
}

Expected<std::vector<search::PlanStep>> HostSpace::steps(const search::Candidate& candidate) const {
  std::vector<search::PlanStep> out;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const auto planned = plan(candidate, h, 0);
    if (!planned) return tl::unexpected(planned.error());
    for (const Step& step : planned->steps) {
      const host::Port& port = *hosts_[h].host.find_port(step.port);
      for (const Change& change : step.changes) {
        search::PlanStep told;
        told.knob = to_text(change.knob);
        told.where = hosts_[h].host.name;
        told.before = change.before ? to_text(change.knob, *change.before) : "not shown";
        told.after = to_text(change.knob, change.after);
        told.cost = cost_of(change, step.interrupts_link);
        told.how = commands_in_a_row(change, port);
        Change back = change;
        if (change.before) {
          back.after = *change.before;
          told.undo = commands_in_a_row(back, port);
        } else {
          told.undo = "rocetune rollback";
        }
        out.push_back(std::move(told));
      }
    }
  }
  for (std::size_t k = 0; k < turned_.size(); ++k) {
    if (turned_[k].what != Turned::What::variable || candidate.values[k] == knobs_[k].start) continue;
    search::PlanStep told;
    told.knob = knobs_[k].name;
    told.where = "workload";
    told.before = knobs_[k].text(knobs_[k].start);
    told.after = knobs_[k].text(candidate.values[k]);
    told.cost = knobs_[k].cost;
    told.how = "export " + turned_[k].name + "=" + told.after;
    told.undo = "export " + turned_[k].name + "=" + told.before;
    out.push_back(std::move(told));
  }
  return out;
}

bool HostSpace::is_pause_off(const search::Candidate& candidate) const {
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const auto planned = plan(candidate, h, 0);
    if (!planned) return false;
    for (const std::string& name : hosts_[h].ports) {
      const host::Port& port = *hosts_[h].host.find_port(name);
      std::optional<PrioritySet> pfc;
      std::optional<host::GlobalPause> global;
      if (port.dcb.pfc) pfc = port.dcb.pfc->enabled;
      if (port.pause) global = *port.pause;
      for (const Step& step : planned->steps) {
        for (const Change& change : step.changes) {
          if (change.knob.port != name) continue;
          if (const auto* to = std::get_if<host::PfcSetting>(&change.after)) pfc = to->enabled;
          if (const auto* to = std::get_if<host::GlobalPause>(&change.after)) global = *to;
        }
      }
      if (!pfc || !pfc->is_empty() || !global || global->receive || global->transmit) return false;
    }
  }
  return true;
}

std::vector<std::pair<std::string, std::string>> HostSpace::environment(
    const search::Candidate& candidate) const {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t k = 0; k < turned_.size(); ++k) {
    if (turned_[k].what != Turned::What::variable) continue;
    out.emplace_back(turned_[k].name, knobs_[k].choices[static_cast<std::size_t>(candidate.values[k])]);
  }
  return out;
}

}  // namespace rocetune::tune
