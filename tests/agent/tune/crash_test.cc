// The promise: killed at any moment, with or without a reboot, killed again while recovering, the host ends
// in the state before or in the state confirmed after, and the ledger says which.
#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

constexpr Duration kDeadline = seconds(600);
const Caller kRecovery{.user = "root", .command = "rocetune recover"};

// Runs `action` in a process that dies at its `kill_at`th point; false when it lived to its end.
template <class Action>
bool dies(FakeKernel& kernel, FakeDisk& disk, int kill_at, Action&& action) {
  Process process(kernel, disk, kill_at);
  try {
    action(process);
  } catch (const Killed&) {
    return true;
  }
  return false;
}

void recover(FakeKernel& kernel, FakeDisk& disk) {
  Process process(kernel, disk);
  const auto result = process.transactions.recover(kRecovery);
  ASSERT_TRUE(result) << result.error().text();
}

// What the promise allows, given the state before, the state after and what the ledger says.
void expect_promise_kept(FakeKernel& kernel, FakeDisk& disk, const std::string& before,
                         const std::string& after, const std::string& context) {
  Process process(kernel, disk);
  const Ledger ledger = process.ledger();
  ASSERT_EQ(ledger.open(), nullptr) << context;
  if (ledger.entries().empty()) {
    EXPECT_EQ(kernel.state(), before) << context;
    return;
  }
  const Outcome outcome = *ledger.entries().back().outcome;
  ASSERT_TRUE(outcome == Outcome::committed || outcome == Outcome::rolled_back)
      << context << ": " << enum_name(outcome);
  EXPECT_EQ(kernel.state(), outcome == Outcome::committed ? after : before) << context;
}

struct World {
  explicit World(int ports = 2, const std::string& bond_mode = "")
      : kernel(ports, bond_mode), plan(plan_for(kernel)) {
    before = kernel.state();
    find_after();
  }
  void find_after() {
    FakeKernel copy = kernel;
    FakeDisk scratch;
    Process process(copy, scratch);
    const auto result = process.apply(plan, request());
    EXPECT_TRUE(result && result->verdict == Verdict::committed)
        << (result ? result->reason : result.error().text());
    after = copy.state();
    EXPECT_NE(before, after);
  }
  FakeKernel kernel;
  FakeDisk disk;
  Plan plan;
  std::string before, after;
};

TEST(Crash, KilledAtEveryPointOfAnApply) {
  for (const std::string bond_mode : {"", "802.3ad", "active-backup"}) {
    const World world(2, bond_mode);
    int kill_at = 1;
    for (bool alive = true; alive; ++kill_at) {
      FakeKernel kernel = world.kernel;
      FakeDisk disk;
      alive = dies(kernel, disk, kill_at, [&](Process& p) { (void)p.apply(world.plan, request()); });
      recover(kernel, disk);
      expect_promise_kept(
          kernel, disk, world.before, world.after,
          fmt::format("{} killed at point {}", bond_mode.empty() ? "ports" : bond_mode, kill_at));
    }
    EXPECT_GT(kill_at, 100);  // that the loop saw a whole apply
  }
}

TEST(Crash, KilledAgainAtEveryPointOfTheRecovery) {
  // A part of the steps, but every kind of batch: a link bounce, an MTU, files, a hidden knob.
  World world(1);
  std::erase_if(world.plan.steps, [](const Step& step) {
    const host::KnobKind kind = step.changes.front().knob.kind;
    return kind == host::KnobKind::buffers || kind == host::KnobKind::global_pause ||
           kind == host::KnobKind::pfc_prevention;
  });
  world.find_after();
  int points = 0;
  for (int first = 1;; ++first) {
    FakeKernel kernel = world.kernel;
    FakeDisk disk;
    if (!dies(kernel, disk, first, [&](Process& p) { (void)p.apply(world.plan, request()); })) break;
    for (int second = 1;; ++second, ++points) {
      FakeKernel again = kernel;
      FakeDisk again_disk = disk;
      const bool died =
          dies(again, again_disk, second, [&](Process& p) { (void)p.transactions.recover(kRecovery); });
      recover(again, again_disk);
      expect_promise_kept(again, again_disk, world.before, world.after,
                          fmt::format("killed at {}, then at {} of the recovery", first, second));
      if (!died) break;
    }
  }
  EXPECT_GT(points, 1000);
}

TEST(Crash, KilledAtEveryPointOfARollbackOnDemand) {
  const World world;
  FakeKernel applied = world.kernel;
  FakeDisk applied_disk;
  ASSERT_FALSE(
      dies(applied, applied_disk, 0, [&](Process& p) { (void)p.apply(world.plan, request(kDeadline)); }));
  ASSERT_EQ(applied.state(), world.after);
  for (int kill_at = 1;; ++kill_at) {
    FakeKernel kernel = applied;
    FakeDisk disk = applied_disk;
    const bool died = dies(kernel, disk, kill_at, [&](Process& p) {
      (void)p.transactions.roll_back(std::nullopt, kRecovery, "asked for");
    });
    kernel.boottime_ns += 700'000'000'000;  // the deadline passes as well
    recover(kernel, disk);
    expect_promise_kept(kernel, disk, world.before, world.after, fmt::format("killed at {}", kill_at));
    if (!died) {
      EXPECT_GT(kill_at, 60);
      break;
    }
  }
}

TEST(Crash, KilledAtEveryPointOfAConfirmation) {
  const World world;
  FakeKernel applied = world.kernel;
  FakeDisk applied_disk;
  ASSERT_FALSE(
      dies(applied, applied_disk, 0, [&](Process& p) { (void)p.apply(world.plan, request(kDeadline)); }));
  for (int kill_at = 1;; ++kill_at) {
    FakeKernel kernel = applied;
    FakeDisk disk = applied_disk;
    const bool died = dies(kernel, disk, kill_at,
                           [&](Process& p) { (void)p.transactions.confirm(std::nullopt, kRecovery); });
    kernel.boottime_ns += 700'000'000'000;
    recover(kernel, disk);
    expect_promise_kept(kernel, disk, world.before, world.after, fmt::format("killed at {}", kill_at));
    if (!died) break;
  }
}

TEST(Crash, KilledAtEveryPointOfAnUndo) {
  const World world;
  FakeKernel applied = world.kernel;
  FakeDisk applied_disk;
  ASSERT_FALSE(dies(applied, applied_disk, 0, [&](Process& p) { (void)p.apply(world.plan, request()); }));
  int kill_at = 1;
  for (bool alive = true; alive; ++kill_at) {
    FakeKernel kernel = applied;
    FakeDisk disk = applied_disk;
    alive = dies(kernel, disk, kill_at, [&](Process& p) {
      const auto plan = undo_plan(*p.host.observe(), *p.ledger().find(1), nics(), false, 0);
      ASSERT_TRUE(plan) << plan.error().text();
      (void)p.apply(*plan, request());
    });
    recover(kernel, disk);
    Process process(kernel, disk);
    const Ledger ledger = process.ledger();
    const bool undone = ledger.find(1)->undone_by.has_value();
    EXPECT_EQ(kernel.state(), undone ? world.before : world.after) << "killed at " << kill_at;
    if (!alive) {
      EXPECT_TRUE(undone);
    }
  }
  EXPECT_GT(kill_at, 100);
}

TEST(Crash, RebootedAtEveryPointOfAnApply) {
  const World world;
  for (int kill_at = 1;; ++kill_at) {
    FakeKernel kernel = world.kernel;
    FakeDisk disk;
    const bool died = dies(kernel, disk, kill_at, [&](Process& p) { (void)p.apply(world.plan, request()); });
    kernel.reboot();
    recover(kernel, disk);
    Process boot(kernel, disk);
    const ConfirmedState confirmed = confirmed_state(boot.ledger());
    const Plan plan = boot_plan(*boot.host.observe(), confirmed, nics(), 0);
    if (!plan.is_empty()) {
      const auto result = boot.apply(plan, request());
      ASSERT_TRUE(result && result->verdict == Verdict::committed) << (result ? result->reason : "error");
    }
    const Ledger ledger = boot.ledger();
    const bool committed =
        !ledger.entries().empty() && ledger.entries().front().outcome == Outcome::committed;
    EXPECT_EQ(kernel.state(), committed ? world.after : world.before) << "killed at " << kill_at;
    EXPECT_EQ(committed, !plan.is_empty());
    if (!died) {
      EXPECT_TRUE(committed);
      break;
    }
  }
}

// Kernel state that survived (kexec, firmware that keeps a parameter) must not stay half applied.
TEST(Crash, WhatSurvivesARebootIsSetBack) {
  const World world;
  for (int kill_at = 1;; ++kill_at) {
    FakeKernel kernel = world.kernel;
    FakeDisk disk;
    const bool died =
        dies(kernel, disk, kill_at, [&](Process& p) { (void)p.apply(world.plan, request(kDeadline)); });
    if (!died) break;
    const auto survived = kernel.host.ports.front().cc_params;
    kernel.reboot();
    kernel.host.ports.front().cc_params = survived;
    recover(kernel, disk);
    EXPECT_EQ(kernel.host.ports.front().cc_params, world.kernel.host.ports.front().cc_params)
        << "killed at " << kill_at;
  }
}

}  // namespace
}  // namespace rocetune::tune
