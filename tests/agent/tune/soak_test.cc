#include <algorithm>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

class Soak : public testing::Test {
 protected:
  FakeKernel kernel;
  FakeDisk disk;
  Plan plan = plan_for(kernel);
};

TEST_F(Soak, TheResultSaysWhatTheSoakJudged) {
  Process process(kernel, disk);
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result && result->soak);
  const SoakEvidence& evidence = *result->soak;
  const auto names = [](const std::vector<RuleOnPort>& list, const std::string& rule) {
    return std::count_if(list.begin(), list.end(),
                         [&](const RuleOnPort& entry) { return entry.rule == rule; });
  };
  EXPECT_EQ(names(evidence.judged, "link-down"), 2);  // the fake host counts nothing else
  EXPECT_EQ(names(evidence.not_judged, "held-by-network"), 2);
  EXPECT_FALSE(evidence.not_judged.front().why.empty());
}

TEST_F(Soak, ASoakWithoutEvidenceSaysSoInResultAndHistory) {
  Process process(kernel, disk);
  process.host.traffic = [](counters::Interval& interval) {
    if (interval.elapsed == seconds(5)) interval.ports.clear();
  };
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result && result->soak);
  EXPECT_EQ(result->verdict, Verdict::committed);
  EXPECT_TRUE(result->soak->is_empty());
  EXPECT_TRUE(evidence_lines(*result->soak).front().starts_with("THE SOAK PROVED NOTHING"));
  const auto records = process.journal.records();
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.kind == RecordKind::note && record.reason->starts_with("THE SOAK PROVED NOTHING");
  }));
}

TEST_F(Soak, ARuleThatOneIntervalJudgedIsJudged) {
  SoakEvidence evidence;
  evidence.add({{}, {{"eth0", "timeouts", "not there yet"}}});
  EXPECT_TRUE(evidence.is_empty());
  evidence.add({{{"eth0", "timeouts", ""}}, {}});
  evidence.add({{}, {{"eth0", "timeouts", "gone again"}}});
  EXPECT_EQ(evidence.judged.size(), 1u);
  EXPECT_TRUE(evidence.not_judged.empty());
  EXPECT_EQ(evidence_lines(evidence), std::vector<std::string>{"soak of eth0: judged timeouts"});
}

// The RDMA counters of a bond's device: its netdev has no others.
TEST_F(Soak, ACounterIsJudgedOverTheTimeOfItsOwnSource) {
  counters::Interval during;
  counters::PortDelta delta{.port = "bond0"};
  delta.rdma_elapsed = seconds(5);
  delta.sources["ack_timeouts"] = counters::Source::rdma;
  delta.increments[{"ack_timeouts", std::nullopt}] = std::uint64_t{5000};
  during.ports.push_back(delta);
  const SoakJudgement judged = judge_soak(not_read(), during, {"bond0"}, limits().soak);
  ASSERT_EQ(judged.regressions.size(), 1u);
  EXPECT_NE(judged.regressions.front().find("ack_timeouts 1000.0/s"), std::string::npos);
}

}  // namespace
}  // namespace rocetune::tune
