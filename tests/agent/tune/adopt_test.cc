// A state that was found as wanted and is to outlive a reboot; and plans that change nothing.
#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

class Adopt : public testing::Test {
 protected:
  // The host as the profile wants it, by other hands than ours: nothing of it is in the journal.
  Adopt() {
    FakeDisk elsewhere;
    Process other(kernel, elsewhere);
    EXPECT_EQ(other.apply(plan(), request())->verdict, Verdict::committed);
  }
  host::Host host() {
    Reaper nobody;
    return *FakeHost(kernel, nobody).observe();
  }
  Plan plan() { return *make_plan(host(), profile(), nics(), {}, 0); }
  ApplyRequest allowed() { return request(); }

  FakeKernel kernel{2};
  FakeDisk disk;
};

TEST_F(Adopt, WhatIsKeptIsBroughtBackAtBoot) {
  Process process(kernel, disk);
  const host::Host before = host();
  const auto result = process.transactions.adopt(plan(), allowed());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->verdict, Verdict::adopted) << (result->details.empty() ? "" : result->details.front());
  EXPECT_EQ(facts_of(host(), {"eth0", "eth1"}), facts_of(before, {"eth0", "eth1"}));
  const ConfirmedState state = confirmed_state(process.ledger());
  ASSERT_EQ(state.ports.size(), 2u);
  kernel.reboot();
  EXPECT_FALSE(plan().is_empty());
  Process later(kernel, disk);
  const Plan boot = boot_plan(host(), state, nics(), 0);
  ApplyRequest consents;
  consents.consents = state.consents;
  consents.consents.insert("unresolved-rollback");
  const auto applied = later.apply(boot, consents);
  ASSERT_EQ(applied->verdict, Verdict::committed) << applied->details.front();
  // A repair of what firmware starts with was nobody's to keep.
  for (const Step& step : plan().steps) {
    for (const Change& change : step.changes) {
      EXPECT_EQ(change.knob.kind, host::KnobKind::cc_param) << host::to_text(change.knob);
    }
  }
}

TEST_F(Adopt, ASecondTimeThereIsNothingToDo) {
  Process process(kernel, disk);
  ASSERT_EQ(process.transactions.adopt(plan(), allowed())->verdict, Verdict::adopted);
  EXPECT_EQ(process.transactions.adopt(plan(), allowed())->verdict, Verdict::nothing_to_do);
}

TEST_F(Adopt, WhatABootWouldBeRefusedIsRefusedNow) {
  Process process(kernel, disk);
  ApplyRequest nothing_allowed;
  const auto result = process.transactions.adopt(plan(), nothing_allowed);
  ASSERT_EQ(result->verdict, Verdict::refused);
  EXPECT_EQ(result->details.front(),
            "at boot, eth0: the NIC's firmware owns DCB and would lose it to the host (--allow take-dcbx)");
  EXPECT_TRUE(confirmed_state(process.ledger()).is_empty());
}

TEST_F(Adopt, AStalePlanIsRefused) {
  Process process(kernel, disk);
  const Plan stale = plan();
  kernel.host.ports[0].mtu = Bytes(1500);
  EXPECT_EQ(process.transactions.adopt(stale, allowed())->verdict, Verdict::refused);
}

TEST_F(Adopt, ALaterChangeThatIsUndoneLeavesWhatWasKept) {
  Process process(kernel, disk);
  ASSERT_EQ(process.transactions.adopt(plan(), allowed())->verdict, Verdict::adopted);
  const host::Knob mtu{"eth0", host::KnobKind::mtu, ""};
  const host::KnobValue kept = *host::value_of(host(), mtu);
  Profile larger = profile();
  larger.mtu = Bytes(9216);
  ASSERT_EQ(process.apply(*make_plan(host(), larger, nics(), {}, 0), allowed())->verdict, Verdict::committed);
  const Entry changed = process.ledger().entries().back();
  ASSERT_EQ(process.apply(*undo_plan(host(), changed, nics(), false, 0), allowed())->verdict,
            Verdict::committed);
  EXPECT_EQ(confirmed_state(process.ledger()).ports.front().values.at(mtu), kept);
}

TEST_F(Adopt, WhatChangedNothingCannotBeRolledBack) {
  Process process(kernel, disk);
  ASSERT_EQ(process.transactions.adopt(plan(), allowed())->verdict, Verdict::adopted);
  EXPECT_FALSE(can_be_undone(process.ledger().entries().back()));
}

TEST_F(Adopt, KilledBetweenItsRecordsItIsAsIfNeverBegun) {
  for (int point = 1; point < 20; ++point) {
    FakeDisk mine;
    FakeKernel same = kernel;
    bool killed = false;
    try {
      Process process(same, mine, point);
      (void)process.transactions.adopt(plan(), allowed());
    } catch (const Killed&) {
      killed = true;
    }
    if (!killed) return;
    Process next(same, mine);
    ASSERT_TRUE(next.transactions.recover(Caller()));
    const Ledger book = next.ledger();
    EXPECT_EQ(book.open(), nullptr);
    const bool confirmed = !confirmed_state(book).is_empty();
    EXPECT_EQ(confirmed, !book.entries().empty() && book.entries().back().outcome == Outcome::committed);
  }
  FAIL() << "more points than expected";
}

TEST_F(Adopt, WhatIsAsWantedIsKeptByName) {
  const Plan wanted = plan();
  const auto keeps = [&](host::KnobKind kind) {
    return std::any_of(wanted.kept.begin(), wanted.kept.end(), [&](const Kept& kept) {
      return kept.knob == host::Knob{"eth1", kind, ""};
    });
  };
  for (const host::KnobKind kind :
       {host::KnobKind::dcbx_mode, host::KnobKind::pfc, host::KnobKind::ets, host::KnobKind::app_table,
        host::KnobKind::mtu, host::KnobKind::cm_default_tos}) {
    EXPECT_TRUE(keeps(kind)) << enum_name(kind);
  }
  const auto read = plan_from_json(to_json_text(wanted), "plan.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, wanted);
}

TEST_F(Adopt, AnEmptyPlanIsBoundToThePortsItWasMadeFor) {
  Plan empty = plan();
  ASSERT_TRUE(empty.is_empty());
  EXPECT_TRUE(staleness(empty, host()).empty());
  kernel.host.ports[1].mtu = Bytes(1500);
  EXPECT_EQ(staleness(empty, host()), std::vector<std::string>{"eth1.mtu: planned on 9000, now 1500"});
  empty.host = "elsewhere";
  EXPECT_NE(staleness(empty, host()).front().find("the plan was made for host elsewhere"), std::string::npos);
}

TEST_F(Adopt, AnEmptyPlanOfAnotherHostIsRefused) {
  Process process(kernel, disk);
  Plan foreign = plan();
  ASSERT_TRUE(foreign.is_empty());
  EXPECT_EQ(process.apply(foreign, request())->verdict, Verdict::nothing_to_do);
  foreign.host = "elsewhere";
  const auto result = process.apply(foreign, request());
  ASSERT_EQ(result->verdict, Verdict::refused);
  EXPECT_EQ(result->details.back(), "the plan was made for host elsewhere, this is " + host().name);
}

TEST_F(Adopt, AnEmptyPlanOfAStateThatIsGoneIsRefused) {
  Process process(kernel, disk);
  const Plan old = plan();
  kernel.host.ports[0].dcb.pfc->enabled = PrioritySet();
  EXPECT_EQ(process.apply(old, request())->verdict, Verdict::refused);
}

}  // namespace
}  // namespace rocetune::tune
