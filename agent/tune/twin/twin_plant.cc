#include "agent/tune/twin/twin_plant.h"

#include <algorithm>

#include "agent/tune/fabric_plant/constraints.h"

namespace rocetune::twin {
namespace {

using search::Candidate;
using search::Objective;

// Place in `of`, or its size.
std::size_t place_of(const std::vector<std::size_t>& of, std::size_t knob) {
  return static_cast<std::size_t>(std::ranges::find(of, knob) - of.begin());
}

}  // namespace

TwinPlant::TwinPlant(const Twin& twin, std::vector<double> values,
                     const std::array<bool, search::kObjectives>& measured, std::size_t threads)
    : twin_(twin), values_(std::move(values)), measured_(measured) {
  traits_ = {.name = "twin " + twin.scenario().name,
             .identity = twin.sha256(),
             .is_repeatable = true,
             .parallel = std::max<std::size_t>(threads, 1)};
  for (const Twin::Pair& pair : twin.workloads())
    workloads_.push_back({.name = pair.of_hosts, .weight = 1, .held_out = false});
  make_space();
  make_constraints();
  make_suggestions();
}

void TwinPlant::make_space() {
  const search::Space& hosts = twin_.hosts().space();
  std::vector<search::Knob> knobs;
  for (const TwinKnob& known : twin_.knobs()) {
    search::Knob knob = hosts[known.knob];
    if (knob.lives_while) {
      const std::size_t parent = place_of(knobs_, knob.lives_while->knob);
      // One that the twin does not know stays as found.
      const bool is_alive = hosts.is_alive(known.knob, hosts.start());
      if (parent == knobs_.size() && !is_alive) continue;
      if (parent == knobs_.size()) {
        knob.lives_while.reset();
      } else {
        knob.lives_while->knob = parent;
      }
    }
    if (knob.kind == search::KnobKind::categorical) {
      std::vector<std::size_t> safe;
      for (std::size_t choice = 0; choice < knob.choices.size(); ++choice) {
        const auto value = static_cast<double>(choice);
        if (std::ranges::find(known.values, value) != known.values.end() && knob.is_safe(value))
          safe.push_back(choice);
      }
      knob.safe_choices = std::move(safe);
    }
    knobs_.push_back(known.knob);
    knobs.push_back(std::move(knob));
  }
  auto space = search::Space::of(std::move(knobs));
  ROCETUNE_ASSERT(space.has_value());  // a part of one that is well formed
  space_ = std::move(*space);
}

Candidate TwinPlant::of_hosts(const Candidate& candidate) const {
  Candidate out = twin_.hosts().space().start();
  for (std::size_t k = 0; k < knobs_.size(); ++k) out.values[knobs_[k]] = candidate.values[k];
  return out;
}

std::optional<Candidate> TwinPlant::of_twin(const Candidate& of_hosts) const {
  const search::Space& hosts = twin_.hosts().space();
  Candidate out = space_.start();
  for (const search::Setting& setting : hosts.difference(hosts.start(), hosts.canonical(of_hosts))) {
    const std::size_t k = place_of(knobs_, setting.knob);
    if (k == knobs_.size() || !space_[k].is_safe(setting.value)) return std::nullopt;
    out.values[k] = setting.value;
  }
  return out;
}

// Those of the hosts, and the fabric's. What the twin breaks as it is found is nobody's doing.
void TwinPlant::make_constraints() {
  std::vector<std::size_t> all(space_.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  for (const search::Constraint& of_hosts : twin_.hosts().constraints()) {
    search::Constraint constraint{.id = of_hosts.id, .rule = of_hosts.rule, .origin = of_hosts.origin};
    for (const std::size_t knob : of_hosts.knobs) {
      if (const std::size_t k = place_of(knobs_, knob); k < knobs_.size()) constraint.knobs.push_back(k);
    }
    if (constraint.knobs.empty()) continue;
    constraint.broken = [this, &of_hosts](const Candidate& c) { return of_hosts.broken(this->of_hosts(c)); };
    constraints_.push_back(std::move(constraint));
  }
  const fabric::Scenario as_found = twin_.bones_of(twin_.hosts().space().start(), values_);
  for (const fabric_plant::ScenarioRule& rule : fabric_plant::scenario_rules()) {
    if (rule.broken(as_found)) continue;
    constraints_.push_back({.id = "twin-" + rule.id,
                            .rule = rule.rule,
                            .origin = rule.origin,
                            .knobs = all,
                            .broken = [this, &rule](const Candidate& c) {
                              return rule.broken(twin_.bones_of(of_hosts(c), values_));
                            }});
  }
}

void TwinPlant::make_suggestions() {
  for (const search::Suggestion& suggestion : twin_.hosts().suggestions()) {
    search::Suggestion mine = suggestion;
    mine.settings.clear();
    for (const search::Setting& setting : suggestion.settings) {
      const std::size_t k = place_of(knobs_, setting.knob);
      if (k < knobs_.size() && space_[k].is_safe(setting.value)) mine.settings.push_back({k, setting.value});
    }
    // Half of a suggestion is another one.
    if (!mine.settings.empty() && mine.settings.size() == suggestion.settings.size())
      suggestions_.push_back(std::move(mine));
  }
}

std::vector<Expected<search::Observation>> TwinPlant::observe_all(
    const std::vector<search::Request>& requests, const std::stop_token& stop) {
  std::vector<Twin::Run> runs;
  for (const search::Request& request : requests)
    runs.push_back({of_hosts(request.candidate), request.workload, request.repeat, values_});
  std::vector<search::Observation> seen = twin_.run_all(runs, traits_.parallel, stop);
  std::vector<Expected<search::Observation>> out;
  for (search::Observation& observation : seen) {
    if (stop.stop_requested()) {
      out.emplace_back(fail(ErrorKind::conflict, "stopped"));
      continue;
    }
    search::Objectives& objectives = observation.objectives;
    if (!objectives[Objective::busbw]) objectives[Objective::busbw] = objectives[Objective::goodput];
    for (std::size_t i = 0; i < search::kObjectives; ++i) {
      if (!measured_[i]) objectives.values[i].reset();
    }
    out.emplace_back(std::move(observation));
  }
  return out;
}

Expected<search::Observation> TwinPlant::observe(const search::Request& request, std::stop_token stop) {
  return std::move(observe_all({request}, stop).front());
}

}  // namespace rocetune::twin
