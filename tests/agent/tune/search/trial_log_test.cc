#include "agent/tune/search/trial_log.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "agent/tune/search/outcome_json.h"
#include "dataplane/base/file.h"
#include "dataplane/base/json_reader.h"
#include "tests/agent/tune/search/synthetic_plant.h"
#include "tests/places.h"

namespace rocetune::search {
namespace {

class TrialLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fmt::format("{}/trial-log-{}.jsonl", test_build_folder(),
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(path_);
    tuning_.budget.trials = 20;
    tuning_.seed = 4;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Outcome run(RecordedPlant& plant) { return tune(plant, shipped_policy(), tuning_, nullptr, {}); }

  std::string path_;
  TuneOptions tuning_;
  SyntheticOptions options_{.is_repeatable = false};  // so that a repeated observation would differ
};

TEST_F(TrialLogTest, AKilledRunGoesOnAsIfNothingHadHappened) {
  SyntheticWorld whole_world;
  SyntheticPlant whole_plant(options_, whole_world);
  const auto whole = RecordedPlant::start(whole_plant, path_, tuning_);
  const Outcome expected = run(**whole);
  const std::string log = read_file(path_).value();
  std::filesystem::remove(path_);

  SyntheticWorld world;
  options_.injected.killed_at = 31;
  SyntheticPlant first(options_, world);
  EXPECT_THROW(run(*RecordedPlant::start(first, path_, tuning_).value()), ProcessKilled);
  EXPECT_NE(world.applied, first.space().start());
  --world.observations;  // the one that killed it is made again
  options_.injected.killed_at.reset();
  SyntheticPlant second(options_, world);
  const Outcome resumed = run(*RecordedPlant::resume(second, path_, tuning_).value());
  EXPECT_EQ(read_file(path_).value(), log);
  EXPECT_EQ(resumed.verdict, expected.verdict);
  EXPECT_EQ(resumed.best, expected.best);
  EXPECT_EQ(world.applied, second.space().start());
}

TEST_F(TrialLogTest, ATornLastLineIsMadeAgain) {
  SyntheticWorld world;
  SyntheticPlant plant(options_, world);
  run(*RecordedPlant::start(plant, path_, tuning_).value());
  const std::string whole = read_file(path_).value();
  const std::size_t lines = read_trial_log(path_).value().entries.size();
  ASSERT_TRUE(write_atomically(path_, std::string_view(whole).substr(0, whole.size() - 7)).has_value());
  EXPECT_EQ(read_trial_log(path_).value().entries.size(), lines - 1);
  world = {};
  world.observations = static_cast<int>(lines) - 1;
  SyntheticPlant again(options_, world);
  run(*RecordedPlant::resume(again, path_, tuning_).value());
  EXPECT_EQ(read_file(path_).value(), whole);
}

// Of three questions at once the second is stopped: what the third was answered is no answer to the second.
TEST_F(TrialLogTest, HasNoHoles) {
  class Stopped final : public PlantInFront {
   public:
    using PlantInFront::PlantInFront;
    Expected<Observation> observe(const Request& request, std::stop_token stop) override {
      if (request.workload == 1) return fail(ErrorKind::conflict, "stopped");
      return PlantInFront::observe(request, stop);
    }
  };
  SyntheticWorld world;
  SyntheticPlant plant(options_, world);
  Stopped stopped(plant);
  const auto log = RecordedPlant::start(stopped, path_, tuning_).value();
  std::vector<Request> requests;
  for (std::size_t w = 0; w < 3; ++w) requests.push_back({.candidate = plant.space().start(), .workload = w});
  const auto answers = log->observe_all(requests, {});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  ASSERT_EQ(read_trial_log(path_).value().entries.size(), 1u);
  for (const auto& answer : RecordedPlant::resume(plant, path_, tuning_).value()->observe_all(requests, {}))
    EXPECT_TRUE(answer);
}

TEST_F(TrialLogTest, BelongsToItsPlantSeedAndBudget) {
  SyntheticWorld world;
  SyntheticPlant plant(options_, world);
  ASSERT_TRUE(RecordedPlant::start(plant, path_, tuning_).has_value());
  EXPECT_EQ(RecordedPlant::start(plant, path_, tuning_).error().kind(), ErrorKind::conflict);
  TuneOptions other = tuning_;
  other.seed = 5;
  EXPECT_EQ(RecordedPlant::resume(plant, path_, other).error().text(),
            path_ + ": is of seed 4, this run has 5");
  other = tuning_;
  other.budget.trials = 40;
  EXPECT_NE(RecordedPlant::resume(plant, path_, other).error().text().find("another budget"),
            std::string::npos);
  options_.seed = 9;
  SyntheticPlant stranger(options_, world);
  EXPECT_NE(RecordedPlant::resume(stranger, path_, tuning_).error().text().find("is of plant synthetic 1"),
            std::string::npos);
  EXPECT_EQ(options_of(read_trial_log(path_).value().head).budget.trials, tuning_.budget.trials);
}

TEST_F(TrialLogTest, BadLinesAreNamed) {
  ASSERT_TRUE(
      write_atomically(path_, "{\"schema_version\":1,\"plant\":\"p\"}\n{\"candidate\":7}\n").has_value());
  const auto log = read_trial_log(path_);
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().kind(), ErrorKind::bad_input);
  EXPECT_NE(log.error().text().find(path_ + ":2"), std::string::npos) << log.error().text();
  ASSERT_TRUE(write_atomically(path_, "").has_value());
  EXPECT_EQ(read_trial_log(path_).error().kind(), ErrorKind::bad_input);
  ASSERT_TRUE(write_atomically(path_, "{\"schema_version\":99}\n").has_value());
  EXPECT_NE(read_trial_log(path_).error().text().find("found 99, allowed: 1"), std::string::npos);
}

TEST_F(TrialLogTest, TheOutcomeAsJson) {
  SyntheticWorld world;
  SyntheticPlant plant(SyntheticOptions{.seed = 2}, world);
  tuning_.budget.trials = 40;
  const Outcome outcome = tune(plant, shipped_policy(), tuning_, nullptr, {});
  ASSERT_EQ(outcome.verdict, Verdict::change) << outcome.reason;
  JsonWriter writer;
  writer.begin_object();
  write_outcome(writer, outcome, plant, false);
  writer.end_object();
  const Json json = parse_json(writer.take(), "outcome").value();
  EXPECT_EQ(json.at("verdict").as_string(), "change");
  EXPECT_EQ(json.at("trials").to_number<int>(), static_cast<int>(outcome.trials.size()));
  EXPECT_EQ(json.at("trial_log").as_array().size(), outcome.trials.size());
  EXPECT_LT(json.at("gain_percent").at("low").to_number<double>(),
            json.at("gain_percent").at("high").to_number<double>());
  EXPECT_GT(json.at("best").at("workloads").at("incast").at("goodput_gbps").to_number<double>(),
            json.at("baseline").at("workloads").at("incast").at("goodput_gbps").to_number<double>());
  const Json& change = json.at("best").at("changes").as_array().front();
  for (const char* key : {"knob", "from", "to", "cost"}) EXPECT_NE(json_member(change, key), nullptr) << key;
  EXPECT_TRUE(json.at("restored").as_bool());
}

}  // namespace
}  // namespace rocetune::search
