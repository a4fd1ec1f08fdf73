// Doctor's rules about classes, ECN and headroom, judged at switches: there is no host to log in to, so the
// facts are the fabric's own.
#include <algorithm>
#include <map>

#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/diagnosis.h"
#include "agent/tune/fabric_plant/limits.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::Scenario;
using fabric::SwitchParameters;
using search::Setting;

constexpr const char* kOrigin = "the fabric's switch";

diagnose::Evidence evidence(std::string name, std::string value, std::string unit = {}) {
  return {std::move(name), std::move(value), std::move(unit), kOrigin};
}

struct Judgement {
  diagnose::Severity severity = diagnose::Severity::warning;
  std::string cause;
  std::vector<diagnose::Evidence> evidence;
};
// What is wrong with one switch by one rule; none: nothing.
using Judge = std::optional<Judgement> (*)(const Scenario&, std::uint32_t);

// What the hosts mean: how most of them have it.
struct Meant {
  Dscp data, cnp;
  PrioritySet lossless;
  bool marks_matter = false;
};
Meant meant_by_hosts(const Scenario& s) {
  std::map<std::tuple<Dscp, Dscp, PrioritySet, bool>, int> count;
  for (fabric::NodeId id = 0; id < s.topology.end_hosts(); ++id) {
    const fabric::HostParameters& h = s.options.own_host.at(id);
    ++count[{h.data_dscp, h.notification.cnp_dscp, h.receiver.buffer.lossless,
             h.controller.kind == ControllerChoice::Kind::dcqcn}];
  }
  const auto& [dscp, cnp, lossless, marks] =
      std::ranges::max_element(count, {}, [](const auto& of) { return of.second; })->first;
  return {dscp, cnp, lossless, marks};
}

Priority mapped(const fabric::DscpMap& map, Dscp dscp) { return map[static_cast<std::size_t>(dscp.value())]; }

// Of all maps of a switch the first in which a DSCP leads to a priority that `is_wrong`.
std::optional<std::pair<std::string, Priority>> wrong_way(const SwitchParameters& at, Dscp dscp,
                                                          const std::function<bool(Priority)>& is_wrong) {
  if (const Priority p = mapped(at.priority_of, dscp); is_wrong(p)) return std::pair(std::string(), p);
  for (const auto& [port, map] : at.priority_of_port) {
    if (const Priority p = mapped(map, dscp); is_wrong(p))
      return std::pair(fmt::format(" at port {}", port), p);
  }
  return std::nullopt;
}

std::optional<Judgement> judge_chain(const Scenario& s, std::uint32_t index) {
  const Meant meant = meant_by_hosts(s);
  const SwitchParameters& at = s.options.own_switch.at(index);
  if (meant.lossless.is_empty() && s.options.switches.ingress.lossless.is_empty()) return std::nullopt;
  const auto way = wrong_way(at, meant.data, [&](Priority p) { return !at.ingress.lossless.contains(p); });
  if (!way) return std::nullopt;
  return Judgement{diagnose::Severity::critical,
                   fmt::format("switch {} puts DSCP {}{} into priority {}, which is lossy there: RoCE is "
                               "dropped as soon as a queue fills",
                               index, meant.data.value(), way->first, way->second.value()),
                   {evidence(fmt::format("DSCP {}", meant.data.value()), to_text(way->second)),
                    evidence("priorities with PFC", to_text(at.ingress.lossless))}};
}

std::optional<Judgement> judge_pfc(const Scenario& s, std::uint32_t index) {
  const Meant meant = meant_by_hosts(s);
  const PrioritySet here = s.options.own_switch.at(index).ingress.lossless;
  if (here == meant.lossless || judge_chain(s, index)) return std::nullopt;
  return Judgement{diagnose::Severity::warning,
                   fmt::format("switch {} has PFC for {}, the hosts for {}: one does not hear the other's "
                               "pauses",
                               index, to_text(here), to_text(meant.lossless)),
                   {evidence("priorities with PFC", to_text(here)),
                    evidence("the hosts' priorities with PFC", to_text(meant.lossless))}};
}

std::optional<Judgement> judge_cnps(const Scenario& s, std::uint32_t index) {
  const Meant meant = meant_by_hosts(s);
  const SwitchParameters& at = s.options.own_switch.at(index);
  const auto way = wrong_way(at, meant.cnp, [&](Priority p) { return at.ingress.lossless.contains(p); });
  if (!way) return std::nullopt;
  return Judgement{diagnose::Severity::warning,
                   fmt::format("switch {} puts CNPs, DSCP {}{}, into priority {}, which has PFC: a paused "
                               "CNP cannot slow its sender",
                               index, meant.cnp.value(), way->first, way->second.value()),
                   {evidence(fmt::format("DSCP {}", meant.cnp.value()), to_text(way->second)),
                    evidence("priorities with PFC", to_text(at.ingress.lossless))}};
}

std::optional<Judgement> judge_marked(const Scenario& s, std::uint32_t index) {
  const Meant meant = meant_by_hosts(s);
  const SwitchParameters& at = s.options.own_switch.at(index);
  if (!meant.marks_matter || judge_chain(s, index)) return std::nullopt;
  const auto way = wrong_way(at, meant.data, [&](Priority p) { return !at.marked.contains(p); });
  if (!way) return std::nullopt;
  return Judgement{
      diagnose::Severity::warning,
      fmt::format("switch {} does not mark priority {}, the class of the data: DCQCN never hears "
                  "of congestion there",
                  index, way->second.value()),
      {evidence("priorities with ECN", to_text(at.marked))}};
}

std::optional<Judgement> judge_marking(const Scenario& s, std::uint32_t index) {
  const SwitchParameters& at = s.options.own_switch.at(index);
  if (!meant_by_hosts(s).marks_matter || at.ingress.lossless.is_empty()) return std::nullopt;
  const RedCurve& curve = at.congestion_point.curve;
  const Bytes xoff = lone_xoff(s);
  if (curve.maximum < xoff) return std::nullopt;
  const bool is_late = curve.minimum >= xoff;
  return Judgement{
      is_late ? diagnose::Severity::critical : diagnose::Severity::warning,
      is_late
          ? "switches begin to mark where PFC has stopped the queue already: DCQCN is configured and never "
            "acts"
          : "switches do not mark every packet before PFC stops the queue: pauses come where CNPs should",
      {evidence("Kmin", to_text(curve.minimum)), evidence("Kmax", to_text(curve.maximum)),
       evidence("Xoff of one ingress alone", to_text(xoff))}};
}

std::optional<Judgement> judge_headroom(const Scenario& s, std::uint32_t) {
  const HeadroomNeed need = headroom_need(s);
  if (need.given >= need.needed) return std::nullopt;
  return Judgement{diagnose::Severity::critical,
                   fmt::format("{} has {} of headroom and {} may arrive after Xoff: a lossless class drops",
                               need.link, to_text(need.given), to_text(need.needed)),
                   {evidence("headroom", to_text(need.given)), evidence("needed", to_text(need.needed))}};
}

struct SwitchRule {
  const char* id;
  const char* fix;
  Judge judge;
  // Knobs that may cure it, dearest last: names, or the ends of names of deviations.
  std::vector<std::string_view> cures;
};
const std::vector<SwitchRule>& switch_rules() {
  static const std::vector<SwitchRule> kRules{
      {"MAP-5",
       "Map the DSCP to the priority that has PFC",
       judge_chain,
       {".priority_of_dscp", "switches.data_priority", ".lossless", "classes.lossless"}},
      {"MAP-3", "One set of priorities with PFC everywhere", judge_pfc, {".lossless", "classes.lossless"}},
      {"MAP-7",
       "CNPs into a priority without PFC",
       judge_cnps,
       {".priority_of_dscp", "switches.cnp_priority", ".lossless"}},
      {"ECN-2", "Mark the class of the data", judge_marked, {".marked", "switches.marked"}},
      {"ECN-1", "Kmin and Kmax below Xoff", judge_marking, {}},
      {"PFC-3", "Headroom for rate, cable and MTU", judge_headroom, {}},
  };
  return kRules;
}

class Cures {
 public:
  Cures(const Scenario& scenario, const std::vector<FabricKnob>& knobs, const search::Space& space)
      : scenario_(scenario), knobs_(knobs), space_(space) {}

  // Settings after which the rule has nothing to say of the switch.
  std::vector<Setting> of(const SwitchRule& rule, std::uint32_t index) const {
    if (rule.judge == judge_marking) return marking();
    if (rule.judge == judge_headroom) return headroom();
    for (const std::string_view name : rule.cures) {
      for (std::size_t i = 0; i < space_.size(); ++i) {
        const search::Knob& knob = space_[i];
        if (name.front() == '.' ? !knob.name.ends_with(name) || !knob.name.starts_with("switch")
                                : knob.name != name)
          continue;
        for (std::size_t choice = 0; choice < knob.choices.size(); ++choice) {
          const Setting setting{i, static_cast<double>(choice)};
          if (setting.value != knob.start && knob.is_safe(setting.value) && cures(rule, index, {setting}))
            return {setting};
        }
      }
    }
    return {};
  }

 private:
  bool cures(const SwitchRule& rule, std::uint32_t index, const std::vector<Setting>& settings) const {
    Scenario changed = scenario_;
    write(knobs_, space_, space_.with(space_.start(), settings), changed);
    // One that is right is not to become wrong for it, and nothing of it is to break something else.
    return std::ranges::none_of(switch_rules(), [&](const SwitchRule& other) {
      const bool was_right = other.id == rule.id || !other.judge(scenario_, index);
      return was_right && other.judge(changed, index);
    });
  }
  // Kmax where HPCC's set-up has it for this rate, but at half of Xoff at most; Kmin a quarter of it.
  std::vector<Setting> marking() const {
    const auto kmin = space_.find("switches.kmin");
    const auto kmax = space_.find("switches.kmax");
    if (!kmin || !kmax) return {};
    const double half = static_cast<double>(lone_xoff(scenario_).count()) / 2;
    const double most = std::min(half, space_[*kmax].standard.value_or(half));
    return {{*kmin, space_[*kmin].nearest_safe(most / 4)}, {*kmax, space_[*kmax].nearest_safe(most)}};
  }
  std::vector<Setting> headroom() const {
    const auto knob = space_.find("switches.headroom");
    if (!knob) return {};
    const double spare = space_[*knob].step;
    return {{*knob, space_[*knob].nearest_safe(static_cast<double>(headroom_need(scenario_).needed.count()) +
                                               spare)}};
  }

  const Scenario& scenario_;
  const std::vector<FabricKnob>& knobs_;
  const search::Space& space_;
};

}  // namespace

std::vector<FabricFinding> switch_findings(const Scenario& scenario, const std::vector<FabricKnob>& knobs,
                                           const search::Space& space) {
  const Cures cures(scenario, knobs, space);
  std::vector<FabricFinding> out;
  for (const SwitchRule& rule : switch_rules()) {
    std::vector<std::pair<FabricFinding, std::vector<std::uint32_t>>> groups;
    for (std::uint32_t index = 0; index < scenario.topology.switches; ++index) {
      const auto judgement = rule.judge(scenario, index);
      if (!judgement) continue;
      std::vector<Setting> settings = cures.of(rule, index);
      const auto same =
          std::ranges::find_if(groups, [&](const auto& group) { return group.first.settings == settings; });
      if (same != groups.end()) {
        same->second.push_back(index);
        continue;
      }
      FabricFinding finding{.rule = rule.id,
                            .severity = judgement->severity,
                            .where = {},
                            .cause = judgement->cause,
                            .fix = rule.fix,
                            .evidence = judgement->evidence,
                            .settings = std::move(settings),
                            .why_no_settings = {}};
      if (finding.settings.empty()) finding.why_no_settings = "no single setting of this space cures it";
      groups.emplace_back(std::move(finding), std::vector<std::uint32_t>{index});
    }
    for (auto& [finding, members] : groups) {
      finding.where = switches_text(members);
      out.push_back(std::move(finding));
    }
  }
  return out;
}

}  // namespace rocetune::fabric_plant
