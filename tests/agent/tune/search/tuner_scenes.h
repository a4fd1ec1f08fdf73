// What tests of the whole search share.
#pragma once

#include "agent/tune/search/tuner.h"
#include "tests/agent/tune/search/synthetic_plant.h"

namespace rocetune::search {

inline Outcome tuned(Plant& plant, int trials, std::uint64_t seed = 1) {
  TuneOptions options;
  options.budget.trials = trials;
  options.seed = seed;
  return tune(plant, shipped_policy(), options, nullptr, {});
}

// Before a synthetic plant, of which the truth can be asked.
class PlantAround : public PlantInFront {
 public:
  explicit PlantAround(SyntheticPlant& plant) : PlantInFront(plant), plant_(plant) {}

 protected:
  SyntheticPlant& plant_;
};

}  // namespace rocetune::search
