#include <algorithm>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;

class BondTransaction : public testing::Test {
 protected:
  void start(const std::string& mode) {
    kernel = FakeKernel(2, mode);
    plan = plan_for(kernel);
    before = kernel.state();
  }
  FakeKernel kernel;
  FakeDisk disk;
  Plan plan;
  std::string before;
};

TEST_F(BondTransaction, AnActiveBackupBondIsChangedBackupFirstAndCommits) {
  start("active-backup");
  Process process(kernel, disk);
  std::vector<std::string> bounces;
  process.host.fault = [&](const host::Knob& knob, const host::KnobValue&) -> std::optional<Error> {
    if (knob.kind == KnobKind::pfc) bounces.push_back(knob.port);
    return std::nullopt;
  };
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->verdict, Verdict::committed) << result->reason;
  EXPECT_EQ(bounces, (std::vector<std::string>{"eth1", "eth0"}));
  // Its active member went away for the bounce and the bond did not go back.
  EXPECT_EQ(kernel.host.bonds.front().active_members, std::vector<std::string>{"eth1"});
}

TEST_F(BondTransaction, AnActiveBackupBondIsTakenBackExactly) {
  start("active-backup");
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  const auto result = process.transactions.roll_back(1, Caller{.user = "root"}, "asked for");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->verdict, Verdict::rolled_back) << result->reason;
  EXPECT_EQ(kernel.state(), before);
}

TEST_F(BondTransaction, AMemberThatDoesNotReturnToItsAggregateIsALoudEnd) {
  start("802.3ad");
  Process process(kernel, disk);
  kernel.stays_down.insert("eth1");
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::rollback_failed);
  EXPECT_EQ(kernel.state(), before);
}

TEST_F(BondTransaction, TheBondsOwnDefaultTosComesAndGoes) {
  start("802.3ad");
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  EXPECT_EQ(kernel.tos.at("bond0"), 106);
  ASSERT_TRUE(process.transactions.roll_back(1, Caller{.user = "root"}, "asked for"));
  EXPECT_EQ(kernel.state(), before);
}

}  // namespace
}  // namespace rocetune::tune
