// Guides that know, lie or promise too much, on plants with a known optimum.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "agent/tune/search/foresight.h"
#include "agent/tune/search/guide.h"
#include "agent/tune/search/tuner.h"
#include "tests/agent/tune/search/synthetic_plant.h"

namespace rocetune::search {
namespace {

class SaidGuide final : public Guide {
 public:
  using Expects = std::function<std::optional<double>(const Candidate&)>;
  SaidGuide(std::vector<Candidate> proposed, Expects expects)
      : proposed_(std::move(proposed)), expects_(std::move(expects)) {}
  std::string identity() const override { return "said"; }
  std::vector<Proposal> propose(const std::deque<Trial>& trials, std::stop_token) override {
    EXPECT_GE(trials.size(), 3U);
    std::vector<Proposal> out;
    for (const Candidate& candidate : proposed_) out.push_back({candidate, "said"});
    return out;
  }
  std::optional<double> expected(const Candidate& candidate) override { return expects_(candidate); }
  bool knows(std::size_t) const override { return true; }

 private:
  std::vector<Candidate> proposed_;
  Expects expects_;
};

struct Bench {
  explicit Bench(const SyntheticOptions& options) : plant(options, world) {}
  Outcome tuned(Guide* guide, int trials = 60) {
    return tune(plant, policy, {.budget = {.trials = trials}, .seed = 1, .guide = guide}, nullptr, {});
  }
  double truth(const Candidate& candidate) { return plant.true_score(candidate, policy).value_or(-1); }
  SyntheticWorld world;
  SyntheticPlant plant;
  Policy policy = shipped_policy();
};

TEST(Guided, WhatIsForetoldAndHoldsEndsTheSearch) {
  Bench bench({.seed = 3});
  SaidGuide guide({bench.plant.optimum()}, [&](const Candidate& c) { return bench.truth(c); });
  const Outcome outcome = bench.tuned(&guide);
  ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  ASSERT_TRUE(outcome.guidance);
  EXPECT_TRUE(outcome.guidance->is_followed);
  EXPECT_EQ(foresight_of(outcome.guidance->foretold, outcome.guidance->tolerance).belief, Belief::believed);
  EXPECT_LT(outcome.trials.size(), 45U);
  EXPECT_GT(bench.truth(outcome.best), 0.9 * bench.truth(bench.plant.optimum()));
  for (const Trial& trial : outcome.trials) {
    EXPECT_NE(trial.phase, Phase::model);
    EXPECT_NE(trial.phase, Phase::preset);
  }
  EXPECT_EQ(bench.world.violations, 0);
  EXPECT_EQ(bench.world.applied, bench.plant.space().start());
}

TEST(Guided, AfterALieTheSearchGoesOn) {
  Bench bench({.seed = 3});
  const Outcome alone = bench.tuned(nullptr);
  // All that it proposes gains nothing, and what gains is said to lose.
  const Candidate start = bench.plant.space().start();
  std::vector<Candidate> idle;
  for (std::size_t k = 0; k < bench.plant.space().size() && idle.size() < 3; ++k) {
    Candidate candidate = start;
    candidate.values[k] = bench.plant.space()[k].at_position(0.9);
    if (std::abs(bench.truth(candidate)) < 0.02 && !(candidate == start)) idle.push_back(candidate);
  }
  ASSERT_EQ(idle.size(), 3U);
  SaidGuide guide(idle, [&](const Candidate& c) { return std::abs(bench.truth(c)) < 0.02 ? 0.8 : -0.5; });
  const Outcome outcome = bench.tuned(&guide);
  ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  EXPECT_FALSE(outcome.guidance->is_followed);
  EXPECT_GT(bench.truth(outcome.best), 0.8 * bench.truth(alone.best));
  EXPECT_EQ(bench.world.violations, 0);
}

TEST(Guided, APromiseIsNoGain) {
  Bench bench({.seed = 5, .faults = 0, .is_mistuned = false});
  Candidate other = bench.plant.space().start();
  for (std::size_t k = 0; k < other.values.size(); ++k) {
    Candidate tried = bench.plant.space().start();
    tried.values[k] = bench.plant.space()[k].at_position(0.5);
    if (bench.plant.space().is_safe(tried) && bench.truth(tried) > -0.01 &&
        !broken(bench.plant.constraints(), bench.plant.space(), tried))
      other = tried;
  }
  SaidGuide guide({other}, [](const Candidate&) { return 0.5; });
  const Outcome outcome = bench.tuned(&guide);
  EXPECT_EQ(outcome.verdict, Verdict::no_change) << outcome.reason;
  EXPECT_FALSE(outcome.guidance->is_followed);
}

TEST(Guided, NothingToGainThatHoldsIsAnAnswer) {
  Bench bench({.seed = 5, .faults = 0, .is_mistuned = false});
  Candidate idle = bench.plant.space().start();
  for (std::size_t k = 0; k < idle.values.size() && idle == bench.plant.space().start(); ++k) {
    Candidate tried = idle;
    tried.values[k] = bench.plant.space()[k].at_position(0.5);
    if (!(tried == idle) && bench.plant.space().is_safe(tried) && std::abs(bench.truth(tried)) < 0.002)
      idle = tried;
  }
  ASSERT_NE(idle, bench.plant.space().start());
  SaidGuide guide({idle}, [](const Candidate&) { return 0.0; });
  const Outcome outcome = bench.tuned(&guide);
  EXPECT_EQ(outcome.verdict, Verdict::no_change) << outcome.reason;
  EXPECT_TRUE(outcome.guidance->is_followed);
  EXPECT_LT(outcome.trials.size(), 20U);
}

TEST(Guided, WhatIsNotSafeIsNotTried) {
  Bench bench({.seed = 3});
  Candidate unsafe = bench.plant.space().start();
  for (double& value : unsafe.values) value += 0.123;
  SaidGuide guide({unsafe}, [](const Candidate&) { return 1.0; });
  const Outcome outcome = bench.tuned(&guide, 20);
  EXPECT_EQ(bench.world.violations, 0);
  for (const Trial& trial : outcome.trials) EXPECT_NE(trial.phase, Phase::foretold);
}

}  // namespace
}  // namespace rocetune::search
