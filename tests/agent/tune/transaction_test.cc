#include <cerrno>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;

const Caller kOperator{.user = "root", .sudo_user = "ada", .terminal = "pts/1", .ssh_client = "10.0.0.9"};

class Transaction : public testing::Test {
 protected:
  FakeKernel kernel;
  FakeDisk disk;
  Plan plan = plan_for(kernel);
  std::string before = kernel.state();

  // The verdict is `verdict` and, unless it is committed or waiting, the host is as before.
  void expect_back(const Expected<Result>& result, Verdict verdict) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->verdict, verdict) << result->reason;
    EXPECT_EQ(kernel.state(), before);
  }
};

TEST_F(Transaction, AppliesEverythingAndCommits) {
  Process process(kernel, disk);
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->verdict, Verdict::committed) << result->reason;
  const host::Host host = *process.host.observe();
  EXPECT_TRUE(differences(host, values_after(plan, plan.steps.size())).empty());
  const Entry entry = *process.ledger().find(1);
  EXPECT_EQ(entry.outcome, Outcome::committed);
  EXPECT_EQ(entry.intended.size(), plan.steps.size());
  EXPECT_EQ(entry.begin.caller.user, "root");
  EXPECT_EQ(disk.journal.back(), '\n');  // the reserve was given back
}

TEST_F(Transaction, WaitsForConfirmationAndConfirms) {
  Process process(kernel, disk);
  const auto result = process.apply(plan, request(seconds(600)));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->verdict, Verdict::waiting) << result->reason;
  EXPECT_EQ(result->deadline_boottime_ns, process.ledger().find(1)->deadline_boottime_ns);
  Process later(kernel, disk);
  const auto confirmed = later.transactions.confirm(1, kOperator);
  ASSERT_TRUE(confirmed) << confirmed.error().text();
  EXPECT_EQ(confirmed->verdict, Verdict::committed) << confirmed->reason;
  EXPECT_EQ(later.ledger().find(1)->ended_by->sudo_user, "ada");
}

TEST_F(Transaction, RollsBackWhenNobodyConfirms) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  Process early(kernel, disk);
  EXPECT_EQ(early.transactions.recover(kOperator)->verdict, Verdict::waiting);
  kernel.boottime_ns += 601'000'000'000;
  Process late(kernel, disk);
  expect_back(late.transactions.recover(kOperator), Verdict::rolled_back);
  EXPECT_NE(late.ledger().find(1)->end_reason.find("not confirmed within"), std::string::npos);
}

TEST_F(Transaction, AConfirmationAfterTheDeadlineIsARollback) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  kernel.boottime_ns += 601'000'000'000;
  expect_back(Process(kernel, disk).transactions.confirm(1, kOperator), Verdict::rolled_back);
}

TEST_F(Transaction, TheWallClockDecidesNothing) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  for (const std::int64_t jump :
       {std::int64_t{-1'000'000'000'000'000}, std::int64_t{2'000'000'000'000'000}}) {
    kernel.unix_ns += jump;
    EXPECT_EQ(Process(kernel, disk).transactions.recover(kOperator)->verdict, Verdict::waiting);
  }
}

TEST_F(Transaction, EveryWriteFailingWithEveryErrnoIsUndone) {
  int writes = 0;
  {
    FakeKernel copy = kernel;
    FakeDisk scratch;
    Process process(copy, scratch);
    ASSERT_EQ(process.apply(plan, request())->verdict, Verdict::committed);
    writes = process.host.writes;
  }
  ASSERT_GT(writes, 20);
  for (const int number :
       {EPERM, EBUSY, EINVAL, EOPNOTSUPP, ENOMEM, EIO, ETIMEDOUT, ENODEV, EAGAIN, ENOSPC}) {
    for (int nth = 1; nth <= writes; ++nth) {
      FakeKernel copy = kernel;
      FakeDisk scratch;
      Process process(copy, scratch);
      process.host.fault = [&](const host::Knob& knob, const host::KnobValue&) -> std::optional<Error> {
        if (process.host.writes != nth) return std::nullopt;
        return Error(ErrorKind::io, "write " + host::to_text(knob), number);
      };
      const auto result = process.apply(plan, request());
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_EQ(result->verdict, Verdict::rolled_back) << "errno " << number << " at write " << nth;
      EXPECT_EQ(copy.state(), before) << "errno " << number << " at write " << nth;
    }
  }
}

// Parameters fail, so the apply turns back; the MTU was raised by then and cannot be lowered again.
std::optional<Error> mtu_that_cannot_be_lowered(const host::Knob& knob, const host::KnobValue& target) {
  if (knob.kind == KnobKind::mtu && std::get<std::int64_t>(target) == 1500)
    return Error(ErrorKind::io, "no", EBUSY);
  if (knob.kind == KnobKind::cc_param) return Error(ErrorKind::io, "no", EIO);
  return std::nullopt;
}

TEST_F(Transaction, AWriteThatKeepsFailingInTheRollbackIsALoudEnd) {
  Process process(kernel, disk);
  process.host.fault = mtu_that_cannot_be_lowered;
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::rollback_failed);
  EXPECT_EQ(exit_code(result->verdict), ExitCode::failed_not_undone);
  ASSERT_EQ(result->details.size(), 1u);
  EXPECT_EQ(result->details.front(), "eth0 mtu: wanted 1500 B, found 9000 B");
  // Everything else was taken back all the same.
  kernel.host.ports.front().mtu = Bytes(1500);
  EXPECT_EQ(kernel.state(), before);
}

TEST_F(Transaction, AFailedRollbackCanBeTriedAgainAndBlocksNewChanges) {
  {
    Process process(kernel, disk);
    process.host.fault = mtu_that_cannot_be_lowered;
    ASSERT_EQ(process.apply(plan, request())->verdict, Verdict::rollback_failed);
  }
  Process next(kernel, disk);
  const auto refused = next.apply(plan_for(kernel), request());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->verdict, Verdict::refused);
  EXPECT_NE(refused->reason.find("rocetune rollback 1"), std::string::npos) << refused->reason;
  expect_back(next.transactions.roll_back(1, kOperator, "again"), Verdict::rolled_back);
  EXPECT_EQ(next.ledger().unrepaired(), nullptr);
}

TEST_F(Transaction, AWriteWithoutEffectIsFoundByReadingBack) {
  for (const auto& [kind, name] : EnumNames<KnobKind>::names) {
    FakeKernel copy = kernel;
    FakeDisk scratch;
    Process process(copy, scratch);
    process.host.ignored = {kind};
    const auto result = process.apply(plan, request());
    ASSERT_TRUE(result);
    EXPECT_EQ(result->verdict, Verdict::rolled_back) << name;
    EXPECT_NE(result->reason.find("does not show what was written"), std::string::npos) << result->reason;
    EXPECT_EQ(copy.state(), before) << name;
  }
}

TEST_F(Transaction, AnotherOwnerOverwritingDuringTheSoakIsUndone) {
  Process process(kernel, disk);
  process.host.traffic = [&](counters::Interval& interval) {
    // Somebody turns PFC off while the counters are watched.
    if (interval.elapsed == seconds(5)) kernel.host.ports[1].dcb.pfc->enabled = PrioritySet();
  };
  const auto result = process.apply(plan, request());
  expect_back(result, Verdict::rolled_back);
  EXPECT_NE(result->reason.find("eth1 pfc"), std::string::npos) << result->reason;
}

TEST_F(Transaction, AnotherOwnerOverwritingBeforeTheConfirmationBlocksIt) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  kernel.host.ports[1].mtu = Bytes(4000);
  Process later(kernel, disk);
  const auto result = later.transactions.confirm(1, kOperator);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::waiting);
  EXPECT_NE(result->reason.find("eth1 mtu: wanted 9000 B, found 4000 B"), std::string::npos)
      << result->reason;
  expect_back(later.transactions.roll_back(1, kOperator, "asked for"), Verdict::rolled_back);
}

TEST_F(Transaction, ALinkThatDoesNotReturnIsUndoneLoudly) {
  Process process(kernel, disk);
  kernel.stays_down.insert("eth0");
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result);
  // The settings are back, the link is not: that is not the state before.
  EXPECT_EQ(result->verdict, Verdict::rollback_failed);
  EXPECT_EQ(kernel.state(), before);
  ASSERT_FALSE(result->details.empty());
  EXPECT_NE(result->details.front().find("the link of eth0 is down"), std::string::npos)
      << result->details.front();
}

TEST_F(Transaction, ALinkThatReturnsWithTheOldSettingsIsAnOrdinaryRollback) {
  Process process(kernel, disk);
  kernel.stays_down.insert("eth0");
  process.host.meanwhile = [](FakeKernel& k) {
    // The link returns once PFC is off again, whatever the driver says.
    if (k.host.ports[0].dcb.pfc->enabled.is_empty()) k.carrier_at.erase("eth0");
  };
  expect_back(process.apply(plan, request()), Verdict::rolled_back);
}

TEST_F(Transaction, APauseStormDuringTheSoakIsUndone) {
  Process process(kernel, disk);
  process.host.traffic = [&](counters::Interval& interval) {
    if (interval.elapsed != seconds(5)) return;
    for (counters::PortDelta& delta : interval.ports) {
      delta.increments[{"rx_pause_duration_us", Priority(3)}] = std::uint64_t{5'000'000};
    }
  };
  const auto result = process.apply(plan, request());
  expect_back(result, Verdict::rolled_back);
  EXPECT_NE(result->reason.find("pause storm"), std::string::npos) << result->reason;
}

TEST_F(Transaction, AFullDiskRefusesBeforeAnythingHappens) {
  disk.free_bytes = 10'000;
  Process process(kernel, disk);
  const auto result = process.apply(plan, request());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().os_error(), ENOSPC);
  EXPECT_EQ(process.host.writes, 0);
  EXPECT_EQ(kernel.state(), before);
}

TEST_F(Transaction, AJournalThatBreaksInTheMiddleDoesNotLeaveTheHostInBetween) {
  int points = 0;
  {
    FakeKernel copy = kernel;
    FakeDisk scratch;
    Process process(copy, scratch);
    ASSERT_EQ(process.apply(plan, request())->verdict, Verdict::committed);
    points = static_cast<int>(process.journal.records().size());
  }
  for (int nth = 2; nth <= points; ++nth) {
    FakeKernel copy = kernel;
    FakeDisk scratch;
    Process process(copy, scratch);
    process.host.meanwhile = [&](FakeKernel&) {
      if (static_cast<int>(process.journal.records().size()) >= nth) scratch.fails = true;
    };
    const auto result = process.apply(plan, request());
    ASSERT_TRUE(result) << result.error().text();
    if (result->verdict == Verdict::committed) continue;  // broke behind the last record
    EXPECT_EQ(result->verdict, Verdict::rolled_back) << nth;
    EXPECT_TRUE(result->journal_failed.has_value());
    EXPECT_EQ(copy.state(), before) << nth;
    // The next start closes what could not be written down.
    scratch.fails = false;
    Process next(copy, scratch);
    EXPECT_EQ(next.transactions.recover(kOperator)->verdict, Verdict::rolled_back);
    EXPECT_EQ(copy.state(), before) << nth;
  }
}

TEST_F(Transaction, AStalePlanIsRefusedAndSaysWhatChanged) {
  kernel.host.ports[0].mtu = Bytes(4000);
  Process process(kernel, disk);
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::refused);
  EXPECT_EQ(process.host.writes, 0);
  EXPECT_EQ(std::count(result->details.begin(), result->details.end(), "eth0.mtu: planned on 1500, now 4000"),
            1);
  EXPECT_EQ(process.ledger().find(1)->outcome, Outcome::refused);
}

TEST_F(Transaction, AnEditedPlanIsRefused) {
  plan.steps.back().changes.back().before = host::KnobValue(std::int64_t{77});
  Process process(kernel, disk);
  EXPECT_EQ(process.apply(plan, request())->verdict, Verdict::refused);
  EXPECT_EQ(process.host.writes, 0);
}

TEST_F(Transaction, WithoutConsentItIsRefused) {
  Process process(kernel, disk);
  ApplyRequest bare = request();
  bare.consents.clear();
  const auto result = process.apply(plan, bare);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::refused);
  EXPECT_NE(result->reason.find("--allow take-dcbx"), std::string::npos) << result->reason;
  EXPECT_EQ(process.host.writes, 0);
}

TEST_F(Transaction, TheDeadManThatDoesNotStartMeansNoWrite) {
  Process process(kernel, disk);
  const auto result = process.transactions.apply(
      plan, request(), [](std::int64_t) -> Expected<> { return fail(ErrorKind::io, "no process"); });
  expect_back(result, Verdict::rolled_back);
  EXPECT_EQ(process.host.writes, 0);
}

TEST_F(Transaction, ARequestToStopIsARollback) {
  Process process(kernel, disk);
  process.host.meanwhile = [&](FakeKernel&) { process.host.stop = process.host.writes > 5; };
  expect_back(process.apply(plan, request()), Verdict::rolled_back);
}

TEST_F(Transaction, OneAtATime) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  const auto second = Process(kernel, disk).apply(plan_for(kernel), request());
  if (!second) {
    EXPECT_EQ(second.error().kind(), ErrorKind::conflict);
  } else {
    EXPECT_EQ(second->verdict, Verdict::nothing_to_do);
  }
}

TEST_F(Transaction, NothingToConfirmOrRollBackIsAnError) {
  Process process(kernel, disk);
  EXPECT_FALSE(process.transactions.confirm(std::nullopt, kOperator));
  EXPECT_FALSE(process.transactions.roll_back(std::nullopt, kOperator, "x"));
  EXPECT_EQ(process.transactions.recover(kOperator)->verdict, Verdict::nothing_to_do);
}

TEST_F(Transaction, OnePortIsLeftOnlyWhenItsLinkIsBack) {
  Process process(kernel, disk);
  std::vector<std::string> order;
  process.host.fault = [&](const host::Knob& knob, const host::KnobValue&) -> std::optional<Error> {
    if (order.empty() || order.back() != knob.port) order.push_back(knob.port);
    if (knob.port == "eth1") {
      const auto down = kernel.carrier_at.find("eth0");
      EXPECT_TRUE(down == kernel.carrier_at.end() || kernel.boottime_ns >= down->second + 2'000'000'000);
    }
    return std::nullopt;
  };
  ASSERT_EQ(process.apply(plan, request())->verdict, Verdict::committed);
  EXPECT_EQ(order, (std::vector<std::string>{"eth0", "eth1"}));
}

TEST_F(Transaction, ARollbackThatFindsEverythingInPlaceWritesNothing) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan, request(seconds(600)))->verdict, Verdict::waiting);
  FakeKernel untouched;
  FakeDisk copy = disk;
  Process other(untouched, copy);
  ASSERT_EQ(other.transactions.roll_back(1, kOperator, "x")->verdict, Verdict::rolled_back);
  EXPECT_EQ(other.host.writes, 0);
}

TEST_F(Transaction, TooLittleHeadroomAfterPfcIsFoundAndUndone) {
  plan = plan_for(kernel, BufferPolicy::driver);
  Process process(kernel, disk);
  process.host.meanwhile = [](FakeKernel& k) {
    host::PortBuffers& buffers = *k.host.ports[0].dcb.buffers;
    if (buffers.buffer_of_priority[3] == 1) buffers.size[1] = Bytes(20'000);
  };
  const auto result = process.apply(plan, request());
  ASSERT_TRUE(result);
  EXPECT_NE(result->reason.find("its headroom needs 66186 B"), std::string::npos) << result->reason;
  expect_back(result, Verdict::rolled_back);
}

}  // namespace
}  // namespace rocetune::tune
