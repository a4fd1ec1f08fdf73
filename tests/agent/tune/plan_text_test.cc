// What a person reads before saying yes, kept as golden files. ROCETUNE_UPDATE_GOLDEN=1 writes them anew.
#include "agent/tune/plan_text.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "agent/tune/history.h"
#include "tests/agent/tune/bench.h"
#include "tests/places.h"

namespace rocetune::tune {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = fmt::format("{}/tests/agent/tune/golden/{}", source_root(), name);
  if (std::getenv("ROCETUNE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

Plan plan_with(FakeKernel& kernel, const Profile& wanted) {
  Reaper nobody;
  return *make_plan(*FakeHost(kernel, nobody).observe(), wanted, nics(), {}, 0);
}

TEST(PlanText, EveryProfile) {
  for (const char* name : {"roce-dscp26-prio3", "sonic-dscp3-4", "pcp-tagged-l2", "lossy"}) {
    FakeKernel kernel(1);
    Reaper nobody;
    const host::Host host = *FakeHost(kernel, nobody).observe();
    const Plan plan = plan_with(kernel, profile(name));
    const Observed<counters::Interval> unseen = not_read();
    expect_golden(
        fmt::format("plan-{}.txt", name),
        plan_text(plan, host, uncovered(refusals({host, plan, unseen, limits()}), {"rdma-traffic"}), true));
    expect_golden(fmt::format("plan-{}.json", name), to_json_text(plan));
  }
}

TEST(PlanJson, IsThePlanWithItsCommandsAndRefusals) {
  FakeKernel kernel(1);
  Reaper nobody;
  const host::Host host = *FakeHost(kernel, nobody).observe();
  const Plan plan = plan_with(kernel, profile());
  const Observed<counters::Interval> unseen = not_read();
  const std::string text = plan_json(plan, host, refusals({host, plan, unseen, limits()}), false);
  const auto read = plan_from_json(text, "plan.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, plan);
  EXPECT_NE(text.find("\"dcb pfc set dev eth0"), std::string::npos) << text;
  EXPECT_NE(text.find("\"consent\": \"take-dcbx\""), std::string::npos) << text;
}

TEST(PlanText, BondWithExplicitBuffers) {
  FakeKernel kernel(2, "802.3ad");
  Reaper nobody;
  const host::Host host = *FakeHost(kernel, nobody).observe();
  Profile wanted = profile();
  wanted.buffers = BufferPolicy::by_size;
  wanted.cable = Metres(100);
  expect_golden("plan-bond.txt", plan_text(plan_with(kernel, wanted), host, {}, false));
}

TEST(PlanText, NothingToDo) {
  FakeKernel kernel(1);
  FakeDisk disk;
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan_with(kernel, profile()), request())->verdict, Verdict::committed);
  const host::Host host = *process.host.observe();
  EXPECT_EQ(plan_text(plan_with(kernel, profile()), host, {}, false),
            "Plan for testhost: profile roce-dscp26-prio3\nNothing to change: the host is as wanted.\n");
}

TEST(HistoryText, EveryEnd) {
  FakeKernel kernel(1);
  FakeDisk disk;
  const Caller ada{.user = "root",
                   .sudo_user = "ada",
                   .terminal = "pts/1",
                   .ssh_client = "10.0.0.9",
                   .command = "rocetune apply"};
  ApplyRequest asked = request();
  asked.caller = ada;
  Process process(kernel, disk);
  const Plan plan = plan_with(kernel, profile());
  ApplyRequest bare = asked;
  bare.consents.clear();
  ASSERT_EQ(process.apply(plan, bare)->verdict, Verdict::refused);
  ASSERT_EQ(process.apply(plan, asked)->verdict, Verdict::committed);
  const auto undo = undo_plan(*process.host.observe(), *process.ledger().find(2), nics(), false, 0);
  ASSERT_TRUE(undo) << undo.error().text();
  ASSERT_EQ(process.apply(*undo, asked)->verdict, Verdict::committed);
  asked.confirm_within = seconds(600);
  ASSERT_EQ(process.apply(plan_with(kernel, profile()), asked)->verdict, Verdict::waiting);
  ASSERT_EQ(process.transactions.roll_back(4, ada, "asked for")->verdict, Verdict::rolled_back);
  process.host.fault = [](const host::Knob& knob, const host::KnobValue& target) -> std::optional<Error> {
    const bool mtu_down = knob.kind == host::KnobKind::mtu && target == host::KnobValue(std::int64_t{1500});
    if (mtu_down || knob.kind == host::KnobKind::cc_param) return Error(ErrorKind::io, "write mtu", EBUSY);
    return std::nullopt;
  };
  ASSERT_EQ(process.apply(plan_with(kernel, profile()), asked)->verdict, Verdict::rollback_failed);
  const Ledger ledger = process.ledger();
  expect_golden("journal.txt", disk.journal);
  expect_golden("history.txt", history_text(ledger, process.host.now()));
  std::istringstream narrow(history_text(ledger, process.host.now(), {.width = 100}));
  for (std::string line; std::getline(narrow, line);) EXPECT_LE(line.size(), 100u) << line;
  expect_golden("history-show-2.txt", entry_text(*ledger.find(2), ledger, process.host.now()));
  expect_golden("history-show-5.txt", entry_text(*ledger.find(5), ledger, process.host.now()));
}

}  // namespace
}  // namespace rocetune::tune
