// One host, one disk, and the processes that come and go over them: what transaction tests share.
#pragma once

#include <gtest/gtest.h>

#include "agent/tune/derived_plans.h"
#include "agent/tune/planner.h"
#include "agent/tune/transaction.h"
#include "agent/tune/verification.h"
#include "tests/agent/tune/fake_host.h"

namespace rocetune::tune {

inline const host::NicTable& nics() {
  static const host::NicTable table = *host::NicTable::load(ConfigFiles());
  return table;
}
inline Profile profile(const std::string& name = "roce-dscp26-prio3") {
  auto loaded = load_profile(name, ConfigFiles(), nics());
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().text());
  return loaded ? *loaded : Profile{};
}
inline const Limits& limits() {
  static const Limits loaded = *load_limits(ConfigFiles(), nics());
  return loaded;
}

// One run of the program over the kernel and the disk.
struct Process {
  Process(FakeKernel& kernel, FakeDisk& disk, int kill_at = 0)
      : reaper(kill_at),
        host(kernel, reaper),
        journal(*Journal::open(std::make_unique<FakeStorage>(disk, reaper), "journal")),
        transactions(host, journal, Timing(), limits(), [](const std::string&) {}) {}

  Expected<Result> apply(const Plan& plan, ApplyRequest request) {
    return transactions.apply(plan, request, [this](std::int64_t) -> Expected<> {
      reaper.point("while the dead-man timer starts");
      return {};
    });
  }
  Ledger ledger() const { return *Ledger::from(journal.records(), "journal"); }

  Reaper reaper;
  FakeHost host;
  Journal journal;
  Transactions transactions;
};

inline ApplyRequest request(std::optional<Duration> confirm_within = std::nullopt) {
  ApplyRequest out;
  out.caller.user = "root";
  out.caller.command = "rocetune apply";
  out.consents = {"take-dcbx", "inexact-revert"};
  out.confirm_within = confirm_within;
  return out;
}

// The standard plan for all ports of the kernel: every kind of knob.
inline Plan plan_for(FakeKernel& kernel, BufferPolicy buffers = BufferPolicy::by_size) {
  Reaper nobody;
  FakeHost host(kernel, nobody);
  Profile wanted = profile();
  wanted.buffers = buffers;
  auto plan = make_plan(*host.observe(), wanted, nics(), {}, 0);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().text());
  return *plan;
}

}  // namespace rocetune::tune
