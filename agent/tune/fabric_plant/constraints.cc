#include "agent/tune/fabric_plant/constraints.h"

#include <algorithm>
#include <map>

#include "agent/tune/fabric_plant/limits.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::Scenario;
using Broken = std::optional<std::string>;

// Kmin < Kmax < Xoff. Without a lossless class there is no Xoff, without DCQCN no matter what is marked.
Broken marking_order(const Scenario& s) {
  const RedCurve& curve = s.options.switches.congestion_point.curve;
  if (curve.minimum >= curve.maximum)
    return fmt::format("Kmin {} is not below Kmax {}", to_text(curve.minimum), to_text(curve.maximum));
  if (s.options.switches.ingress.lossless.is_empty()) return std::nullopt;
  const Bytes xoff = lone_xoff(s);
  if (curve.maximum < xoff) return std::nullopt;
  return fmt::format("Kmax {} is not below Xoff, {} for one ingress alone", to_text(curve.maximum),
                     to_text(xoff));
}

Broken headroom(const Scenario& s) {
  const HeadroomNeed need = headroom_need(s);
  if (need.given >= need.needed) return std::nullopt;
  return fmt::format("{} needs {} of headroom and has {}", need.link, to_text(need.needed),
                     to_text(need.given));
}

Broken total_buffer(const Scenario& s) {
  const auto issue = fabric::buffers_issue(s, "");
  if (!issue) return std::nullopt;
  return fmt::format("{}: {}, and it has to be {}", issue->key, issue->found, issue->allowed);
}

// A period of alpha shorter than the gap between CNPs has no CNP in it although congestion goes on.
Broken alpha_timer(const Scenario& s) {
  for (const auto& [id, host] : s.options.own_host) {
    const Duration period = host.controller.dcqcn.alpha_period;
    const Duration gap = host.notification.minimum_time_between_cnps;
    if (period <= gap)
      return fmt::format("h{}: alpha's timer, {}, is not longer than the gap between CNPs, {}", id,
                         to_text(period), to_text(gap));
  }
  return std::nullopt;
}

Broken increase_order(const Scenario& s) {
  for (const auto& [id, host] : s.options.own_host) {
    const dcqcn::ReactionPointParameters& rp = host.controller.dcqcn;
    if (rp.hyper_increase < rp.additive_increase)
      return fmt::format("h{}: hyper increase, {}, is less than additive increase, {}", id,
                         to_text(rp.hyper_increase), to_text(rp.additive_increase));
  }
  return std::nullopt;
}

}  // namespace

void write(const std::vector<FabricKnob>& knobs, const search::Space& space,
           const search::Candidate& candidate, Scenario& scenario) {
  for (const search::Setting& setting : space.difference(space.start(), candidate))
    knobs[setting.knob].write(scenario, setting.value);
  if (scenario.options.switches.ingress.derived_headroom) {
    const fabric::DerivedHeadroom derived = headroom_model(scenario);
    scenario.options.switches.ingress.derived_headroom = derived;
    for (auto& [index, own] : scenario.options.own_switch) own.ingress.derived_headroom = derived;
  }
}

const std::vector<ScenarioRule>& scenario_rules() {
  static const std::vector<ScenarioRule> kRules{
      {"ecn-below-xoff", "Kmin < Kmax < Xoff", "DCQCN, SIGCOMM 2015, section 4: ECN before PFC",
       marking_order},
      {"headroom", "headroom holds what arrives after Xoff",
       "IEEE 802.1Q annex N: both ways of the cable, the reaction, and the frames that are under way",
       headroom},
      {"total-buffer", "reserves and headrooms leave a shared pool", "the switch's buffer is what it is",
       total_buffer},
      {"alpha-timer", "alpha's timer is longer than the gap between CNPs",
       "DCQCN, SIGCOMM 2015, section 3: K > N", alpha_timer},
      {"increase-order", "hyper increase is at least additive increase", "IEEE 802.1Qau, rpgHaiRate",
       increase_order}};
  return kRules;
}

namespace {

// The knobs that a rule speaks of; ".mtu" is that of whoever deviates.
const std::vector<std::string_view>& knobs_of_rule(std::string_view id) {
  static const std::map<std::string_view, std::vector<std::string_view>> kKnobs{
      {"ecn-below-xoff", {"switches.kmin", "switches.kmax", "switches.alpha_exponent"}},
      {"headroom", {"switches.headroom", "hosts.mtu", "classes.lossless", ".mtu"}},
      {"total-buffer", {"switches.headroom", "hosts.mtu", "classes.lossless", ".mtu", ".lossless"}},
      {"alpha-timer", {"hosts.rp_dce_tcp_rtt", "hosts.np_min_time_between_cnps"}},
      {"increase-order", {"hosts.rp_ai_rate", "hosts.rp_hai_rate"}}};
  return kKnobs.at(id);
}

}  // namespace

std::vector<search::Constraint> constraints_of(const Scenario& scenario, const std::vector<FabricKnob>& knobs,
                                               const search::Space& space) {
  std::vector<search::Constraint> out;
  for (const ScenarioRule& rule : scenario_rules()) {
    search::Constraint constraint{.id = rule.id, .rule = rule.rule, .origin = rule.origin};
    for (const std::string_view name : knobs_of_rule(rule.id)) {
      for (std::size_t i = 0; i < space.size(); ++i) {
        const std::string& knob = space[i].name;
        if (knob == name || (name.starts_with('.') && knob.ends_with(name))) constraint.knobs.push_back(i);
      }
    }
    if (constraint.knobs.empty()) continue;
    constraint.broken = [&scenario, &knobs, &space, judge = rule.broken](const search::Candidate& candidate) {
      Scenario changed = scenario;
      write(knobs, space, candidate, changed);
      return judge(changed);
    };
    out.push_back(std::move(constraint));
  }
  return out;
}

}  // namespace rocetune::fabric_plant
