// The fitted twin as a plant of its own: the knobs of the hosts that it knows, what the fabric's rules
// forbid, the hosts' suggestions as far as it has them.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/search/plant.h"
#include "agent/tune/twin/twin.h"

namespace rocetune::twin {

class TwinPlant final : public search::Plant {
 public:
  // `twin` must outlive it and know a knob. `values`: of its unknowns. `measured`: which objectives the hosts
  // measure, by objective; others are left out, and busbw is goodput where the twin has no collectives.
  TwinPlant(const Twin& twin, std::vector<double> values,
            const std::array<bool, search::kObjectives>& measured, std::size_t threads);

  const search::PlantTraits& traits() const override { return traits_; }
  const search::Space& space() const override { return space_; }
  const std::vector<search::Constraint>& constraints() const override { return constraints_; }
  const std::vector<search::Workload>& workloads() const override { return workloads_; }
  const std::vector<search::Suggestion>& suggestions() const override { return suggestions_; }
  Expected<search::Observation> observe(const search::Request& request, std::stop_token stop) override;
  std::vector<Expected<search::Observation>> observe_all(const std::vector<search::Request>& requests,
                                                         const std::stop_token& stop) override;
  // Nothing is ever changed: each run is made anew.
  Expected<> restore() override { return {}; }

  // The same candidate in the hosts' space: what the twin does not know is as found; and back, none if the
  // candidate turns a knob, or has a choice, that it does not know.
  search::Candidate of_hosts(const search::Candidate& candidate) const;
  std::optional<search::Candidate> of_twin(const search::Candidate& of_hosts) const;

 private:
  void make_space();
  void make_constraints();
  void make_suggestions();

  const Twin& twin_;
  std::vector<double> values_;
  std::array<bool, search::kObjectives> measured_;
  std::vector<std::size_t> knobs_;  // of the hosts, by place in space_
  search::PlantTraits traits_;
  search::Space space_;
  std::vector<search::Constraint> constraints_;
  std::vector<search::Workload> workloads_;
  std::vector<search::Suggestion> suggestions_;
};

}  // namespace rocetune::twin
