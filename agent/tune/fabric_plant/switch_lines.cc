#include "agent/tune/fabric_plant/switch_lines.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "agent/tune/fabric_plant/advice.h"

namespace rocetune::fabric_plant {
namespace {

using evidence::PlannedClass;
using evidence::SwitchPlan;
using evidence::SwitchWriter;
using fabric::Scenario;
using fabric::SwitchParameters;

constexpr int kWholeLink = 100;  // percent
// Of one data class where nobody says a share; the rest is for everything else, or management starves.
// Origin: configs/profiles, ETS-1.
constexpr int kUsualShare = 50;

// The model's queues are strict unless the file says else. Among several data classes that is what was
// measured; a single one has nobody to pass.
bool takes_usual_share(const SwitchParameters& at, const DscpsInUse& dscps) {
  return at.ets == EtsConfig() && data_priorities(dscps, at).size() == 1;
}

Priority priority_at(const SwitchParameters& at, Dscp dscp) {
  return at.priority_of[static_cast<std::size_t>(dscp.value())];
}

// The class of a priority; a new one is called `name`.
PlannedClass& class_of(SwitchPlan& plan, const SwitchParameters& at, Priority priority,
                       const std::string& name) {
  const auto found = std::ranges::find(plan.classes, priority, &PlannedClass::priority);
  if (found != plan.classes.end()) return *found;
  const EtsClass& ets = at.ets.classes[fabric::index_of(priority)];
  return plan.classes.emplace_back(PlannedClass{.name = name,
                                                .dscps = {},
                                                .priority = priority,
                                                .queue = TrafficClass(priority.value()),
                                                .lossless = at.ingress.lossless.contains(priority),
                                                .strict = ets.strict,
                                                .share_percent = ets.share_percent,
                                                .marks = at.marked.contains(priority)});
}

void lead(SwitchPlan& plan, const SwitchParameters& at, Dscp dscp, const std::string& name) {
  std::vector<Dscp>& dscps = class_of(plan, at, priority_at(at, dscp), name).dscps;
  if (std::ranges::find(dscps, dscp) == dscps.end()) dscps.push_back(dscp);
}

// Of a class that no traffic is in nothing stands in the lines.
PrioritySet idle_lossless(const SwitchParameters& at, PrioritySet used) {
  PrioritySet out;
  for (const Priority p : at.ingress.lossless.members()) {
    if (!used.contains(p)) out = out.with(p);
  }
  return out;
}

// What a writer says of each switch, and of what it says nothing.
struct Said {
  std::string text;
  PrioritySet idle;
  bool operator==(const Said&) const = default;
};
std::vector<Said> said_of(const Scenario& scenario, const DscpsInUse& dscps, SwitchWriter writer) {
  std::vector<Said> out;
  for (std::uint32_t index = 0; index < scenario.topology.switches; ++index) {
    const SwitchParameters& at = scenario.options.own_switch.at(index);
    out.push_back({evidence::lines_of(switch_plan_of(at, dscps), writer).text,
                   idle_lossless(at, used_priorities(dscps, at))});
  }
  return out;
}

// The scenario with all changes of the candidate, but for one of them.
Scenario changed(const FabricPlant& plant, const std::vector<search::Setting>& changes,
                 std::optional<std::size_t> but_for = std::nullopt) {
  Scenario out = plant.scenario();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i != but_for) plant.knobs()[changes[i].knob].write(out, changes[i].value);
  }
  return out;
}

bool is_of_switches(const FabricKnob& knob) {
  return knob.place == Place::switches || knob.place == Place::classes;
}

}  // namespace

SwitchPlan switch_plan_of(const SwitchParameters& at, const DscpsInUse& dscps) {
  SwitchPlan out;
  std::string name = "roce";
  for (const Priority p : data_priorities(dscps, at)) {
    class_of(out, at, p, name);
    name = fmt::format("roce-{}", out.classes.size() + 1);
  }
  for (const auto& [dscp, hosts] : dscps.data) lead(out, at, dscp, name);
  for (const auto& [dscp, hosts] : dscps.acks) lead(out, at, dscp, "ack");
  for (const auto& [dscp, hosts] : dscps.cnps) lead(out, at, dscp, "cnp");
  if (takes_usual_share(at, dscps)) {
    out.classes.front().strict = false;
    out.classes.front().share_percent = kUsualShare;
  }
  int shared = 0;
  for (const PlannedClass& planned : out.classes) shared += planned.share_percent;
  out.default_share_percent = std::max(kWholeLink - shared, 0);
  if (!at.marked.is_empty()) {
    const auto& curve = at.congestion_point.curve;
    out.mark_from = curve.minimum;
    out.mark_all = curve.maximum;
    out.mark_percent = std::clamp(static_cast<int>(std::lround(curve.probability.percent())), 1, kWholeLink);
  }
  if (at.watchdog) out.storm_after = at.watchdog->detection;
  out.ports = {std::string(kAnyPort)};
  return out;
}

std::vector<SwitchSnippet> switch_lines_of(const FabricPlant& plant, const search::Candidate& candidate) {
  std::vector<SwitchSnippet> out;
  const std::vector<search::Setting> changes = plant.space().difference(plant.space().start(), candidate);
  const std::vector<Step> steps = steps_of(plant, candidate);
  std::vector<std::size_t> ours;  // of the changes
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (is_of_switches(plant.knobs()[changes[i].knob])) ours.push_back(i);
  }
  if (ours.empty()) return out;
  const Scenario& before = plant.scenario();
  const Scenario after = changed(plant, changes);
  const DscpsInUse dscps_before = dscps_in_use(before), dscps = dscps_in_use(after);
  std::map<SwitchWriter, std::vector<Said>> said;
  for (const auto& [writer, system] : EnumNames<SwitchWriter>::names)
    said[writer] = said_of(after, dscps, writer);
  std::map<SwitchWriter, std::vector<std::string>> unsaid_by;
  for (const std::size_t i : ours) {
    const Scenario without = changed(plant, changes, i);
    for (const auto& [writer, now] : said) {
      if (now == said_of(without, dscps, writer))
        unsaid_by[writer].push_back(
            fmt::format("{} at {}: {}", steps[i].knob, steps[i].where, steps[i].after));
    }
  }
  for (const auto& [writer, system] : EnumNames<SwitchWriter>::names) {
    const std::vector<Said> was = said_of(before, dscps_before, writer);
    const std::vector<Said>& now = said[writer];
    const std::vector<std::string>& unsaid = unsaid_by[writer];
    const std::size_t first = out.size();
    std::vector<std::vector<std::uint32_t>> groups;  // of switches that are to have the same
    for (std::uint32_t index = 0; index < now.size(); ++index) {
      if (now[index] == was[index]) continue;
      const auto same =
          std::ranges::find_if(groups, [&](const auto& group) { return now[group.front()] == now[index]; });
      if (same == groups.end()) {
        groups.push_back({index});
      } else {
        same->push_back(index);
      }
    }
    for (const std::vector<std::uint32_t>& group : groups) {
      const SwitchParameters& at = after.options.own_switch.at(group.front());
      evidence::SwitchLines lines = evidence::lines_of(switch_plan_of(at, dscps), writer);
      SwitchSnippet& added = out.emplace_back(
          SwitchSnippet{.where = group.size() == now.size() ? "all switches" : switches_text(group),
                        .system = std::string(system),
                        .text = std::move(lines.text),
                        .notes = std::move(lines.notes),
                        .unsaid = unsaid});
      if (takes_usual_share(at, dscps)) {
        added.notes.push_back(
            fmt::format("shares of queues are no part of the plan: {} % for RoCE and as much for everything "
                        "else, as the shipped profiles have it",
                        kUsualShare));
      }
      if (const PrioritySet idle = now[group.front()].idle; !idle.is_empty())
        added.unsaid.push_back("PFC of " + to_text(idle) + ": no DSCP that is used leads there");
      if (!at.priority_of_port.empty())
        added.unsaid.emplace_back("single ports have another DSCP map than the switch");
    }
    if (out.size() == first)
      out.push_back({.where = {}, .system = std::string(system), .text = {}, .notes = {}, .unsaid = unsaid});
  }
  return out;
}

}  // namespace rocetune::fabric_plant
