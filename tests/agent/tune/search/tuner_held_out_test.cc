// What is held out, in the whole search.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/agent/tune/search/tuner_scenes.h"

namespace rocetune::search {
namespace {

TEST(Tuner, AHeldOutWorkloadMustNotGetWorse) {
  SyntheticOptions options;
  options.seed = 3;
  options.hurts_held_out = true;
  SyntheticWorld world;
  SyntheticPlant plant(options, world);
  const Outcome outcome = tuned(plant, 60);
  EXPECT_EQ(outcome.verdict, Verdict::no_change);
  EXPECT_NE(outcome.reason.find("held-out workload permutation got worse"), std::string::npos)
      << outcome.reason;
}

// The first of doctor's fixes halves what is held out, and held-out workloads run in every trial, or in the
// confirmation alone.
class HurtByAFix final : public PlantAround {
 public:
  HurtByAFix(SyntheticPlant& plant, bool watches) : PlantAround(plant), traits_(plant.traits()) {
    traits_.watches_held_out = watches;
  }
  const PlantTraits& traits() const override { return traits_; }
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    if (!workloads()[request.workload].held_out || !hurts(request.candidate))
      return plant_.observe(request, std::move(stop));
    Observation out = plant_.truth(space().start(), request.workload);
    *out.objectives[Objective::goodput] /= 2;
    return out;
  }
  bool hurts(const Candidate& candidate) const {
    const Setting& fix = suggestions().front().settings.front();
    return candidate.values[fix.knob] == fix.value;
  }

 private:
  PlantTraits traits_;
};

// The search does not build on what would be refused in the end.
TEST(Tuner, WhatIsHeldOutIsSparedByTheSearchWhereItIsWatched) {
  const Policy policy = shipped_policy();
  double watched = 0;
  double blind = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SyntheticOptions options;
    options.seed = seed;
    for (const bool watches : {true, false}) {
      SyntheticWorld world;
      SyntheticPlant plant(options, world);
      HurtByAFix hurt(plant, watches);
      const Outcome outcome = tuned(hurt, 60, seed);
      if (outcome.verdict == Verdict::change) {
        EXPECT_FALSE(hurt.hurts(outcome.best)) << "plant " << seed;
      }
      if (watches) {
        ASSERT_EQ(outcome.verdict, Verdict::change) << "plant " << seed << ": " << outcome.reason;
      }
      (watches ? watched : blind) += plant.true_score(outcome.best, policy).value();
    }
  }
  EXPECT_GT(watched, blind + 0.2);
}

// With whatever is not one of doctor's fixes, what is held out has half of what it had.
class HurtByAllButFixes final : public PlantAround {
 public:
  using PlantAround::PlantAround;
  Expected<Observation> observe(const Request& request, std::stop_token stop) override {
    auto out = plant_.observe(request, std::move(stop));
    const bool is_fixed = std::ranges::all_of(
        space().difference(space().start(), request.candidate), [&](const Setting& setting) {
          return std::ranges::any_of(suggestions(), [&](const Suggestion& suggestion) {
            return suggestion.kind == Suggestion::Kind::remedy &&
                   std::ranges::find(suggestion.settings, setting) != suggestion.settings.end();
          });
        });
    if (out && workloads()[request.workload].held_out && !is_fixed) {
      *out = plant_.truth(space().start(), request.workload);
      *out->objectives[Objective::goodput] /= 2;
      *out->objectives[Objective::p99_fct] *= 2;
    }
    return out;
  }
};

TEST(Tuner, WhereTheBestHurtsWhatIsHeldOutDoctorsFixesAreTheAnswer) {
  SyntheticOptions options;
  options.seed = 11;
  options.faults = 2;
  SyntheticWorld world;
  SyntheticPlant synthetic(options, world);
  HurtByAllButFixes plant(synthetic);
  const Outcome outcome = tuned(plant, 60);
  ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  EXPECT_TRUE(outcome.held_out_gain_percent && outcome.held_out_gain_percent->mid > -3);
  for (const Attribution& one : outcome.attribution) EXPECT_FALSE(one.suggestion.empty());
}

}  // namespace
}  // namespace rocetune::search
