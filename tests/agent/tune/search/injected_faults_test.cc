// 1000 runs of a plant on which everything goes wrong that can: whatever happens, no trial outside the safe
// set, no constraint broken, and the plant as it was.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "agent/tune/search/trial_log.h"
#include "agent/tune/search/tuner.h"
#include "dataplane/base/file.h"
#include "tests/agent/tune/search/synthetic_plant.h"
#include "tests/places.h"

namespace rocetune::search {
namespace {

constexpr int kRuns = 1000;
constexpr int kTrials = 20;

SyntheticOptions options_for(std::uint64_t seed) {
  SyntheticOptions options;
  options.seed = seed;
  options.faults = static_cast<int>(seed % 6);
  options.is_mistuned = seed % 7 != 0;
  options.idle_knobs = static_cast<int>(seed % 3);
  options.noise = seed % 4 == 0 ? 0.05 : 0.01;
  options.is_repeatable = seed % 2 == 0;
  options.has_false_remedy = seed % 5 == 0;
  options.knows_remedies = seed % 3 != 0;
  SyntheticFaults& injected = options.injected;
  injected.workload_fails = seed % 8 == 1 ? 0.1 : 0;
  injected.hangs = seed % 8 == 2 ? 0.1 : 0;
  injected.nonsense = seed % 8 == 3 ? 0.1 : 0;
  injected.counters_vanish = seed % 8 == 4 ? 0.1 : 0;
  injected.link_down = seed % 8 == 5 ? 0.1 : 0;
  injected.plant_fails = seed % 8 == 6 ? 0.03 : 0;
  if (seed % 16 == 7) {
    injected.workload_fails = injected.hangs = injected.nonsense = 0.1;
    injected.counters_vanish = injected.link_down = 0.1;
  }
  const int moment = static_cast<int>(seed * 7919 % (3 * kTrials));
  if (seed % 10 == 9) injected.killed_at = moment;
  if (seed % 10 == 8) injected.stopped_at = moment;
  return options;
}

TEST(InjectedFaults, NeverAConstraintBrokenNorThePlantLeftChanged) {
  const std::string log = test_build_folder() + "/injected-faults.jsonl";
  std::map<Verdict, int> verdicts;
  int killed = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE(seed);
    SyntheticOptions options = options_for(seed);
    SyntheticWorld world;
    TuneOptions tuning;
    tuning.budget.trials = kTrials;
    tuning.seed = seed;
    std::filesystem::remove(log);
    std::optional<Outcome> outcome;
    std::stop_source stop;
    try {
      SyntheticPlant plant(options, world, &stop);
      // A log costs a sync to disk for every run: only where one is read again.
      std::unique_ptr<RecordedPlant> recorded;
      if (options.injected.killed_at) {
        auto started = RecordedPlant::start(plant, log, tuning);
        ASSERT_TRUE(started.has_value()) << started.error().text();
        recorded = std::move(*started);
      }
      Plant& tuned = recorded ? static_cast<Plant&>(*recorded) : plant;
      outcome = tune(tuned, shipped_policy(), tuning, nullptr, stop.get_token());
    } catch (const ProcessKilled&) {
      ++killed;
      // The next process, over the same plant.
      options.injected.killed_at.reset();
      SyntheticPlant plant(options, world);
      const int before = world.observations;
      const auto recorded = RecordedPlant::resume(plant, log, tuning);
      ASSERT_TRUE(recorded.has_value()) << recorded.error().text();
      outcome = tune(**recorded, shipped_policy(), tuning, nullptr, {});
      EXPECT_LE(world.observations - before, 6 * kTrials);
    }
    EXPECT_EQ(world.violations, 0);
    EXPECT_EQ(world.applied, SyntheticPlant(options, world).space().start());
    EXPECT_TRUE(outcome->restored);
    EXPECT_LE(outcome->trials.size(), static_cast<std::size_t>(kTrials));
    for (const Trial& trial : outcome->trials) {
      if (trial.score) continue;
      EXPECT_NE(outcome->verdict == Verdict::change ? outcome->best : Candidate{}, trial.candidate)
          << "a candidate that failed is never the best: " << trial.why;
    }
    if (outcome->verdict == Verdict::interrupted) {
      EXPECT_TRUE(outcome->plant_error.has_value() || stop.stop_requested());
    }
    ++verdicts[outcome->verdict];
  }
  std::filesystem::remove(log);
  // All ends were reached, so the runs tested something.
  EXPECT_GT(killed, 50);
  EXPECT_GT(verdicts[Verdict::change], 100);
  EXPECT_GT(verdicts[Verdict::no_change], 20);
  EXPECT_GT(verdicts[Verdict::interrupted], 50);
}

TEST(InjectedFaults, ARestoreThatFailsIsSaidAloud) {
  SyntheticOptions options;
  SyntheticWorld world;
  world.applied = Candidate{{1, 1, 1}};  // of a process that died
  options.injected.restore_fails = 1;
  SyntheticPlant plant(options, world);
  TuneOptions tuning;
  tuning.budget.trials = 20;
  const Outcome outcome = tune(plant, shipped_policy(), tuning, nullptr, {});
  EXPECT_EQ(outcome.verdict, Verdict::refused);
  EXPECT_FALSE(outcome.restored);
  EXPECT_EQ(outcome.restore_error, "restore failed");
  EXPECT_EQ(world.observations, 0);
}

}  // namespace
}  // namespace rocetune::search
