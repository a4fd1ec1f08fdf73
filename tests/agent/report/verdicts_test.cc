#include "agent/report/verdicts.h"

#include <gmock/gmock.h>

#include "agent/report/losses.h"
#include "tests/agent/report/sweep_fixtures.h"

namespace rocetune::report {
namespace {

using html::Verdict;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

fabric::RunResult good_run() { return run_with({}, 1, 90, 2769.2).result; }

std::vector<std::string> sentences_of(const fabric::RunResult& r) {
  std::vector<std::string> out;
  for (const Statement& s : verdicts_of(r)) out.push_back(s.head + s.rest);
  return out;
}

TEST(Verdicts, OfAGoodRunSayThatItIsGood) {
  EXPECT_THAT(sentences_of(good_run()),
              ElementsAre("All traffic came through: 1 flow finished, the slowest after 2.77\u00a0ms.",
                          "Nothing was lost.", "Nobody was paused.", "All 1 checks hold."));
}

TEST(Verdicts, WhatIsWrongComesFirst) {
  fabric::RunResult r = good_run();
  r.drops = 3;
  r.flows.retransmitted_frames = 3;
  r.checkers.push_back({"every packet has a way", false, "2 packets without a route"});
  r.deadlock = fabric::Deadlock{.found_us = 200, .cycle = {"a", "b"}, .priority = 3};
  const auto all = verdicts_of(r);
  EXPECT_EQ(all[0].head, "Violated: every packet has a way");
  EXPECT_EQ(all[1].head + all[1].rest,
            "Deadlock at 200\u00a0µs: 2 ports of priority 3 wait for each other in a circle.");
  EXPECT_EQ(all[2].head + all[2].rest,
            "Lost: 3 dropped in switches for lack of room. 3 packets were sent again.");
  EXPECT_EQ(all[2].verdict, Verdict::warn);
}

TEST(Verdicts, UnfinishedTrafficSaysHowFarItCame) {
  fabric::RunResult r = job_with({}, 900, 80).result;
  r.virtual_s = 0.02;
  r.reached_limit = true;
  r.jobs[0].finished = 3;
  EXPECT_THAT(sentences_of(r), Contains("It did not finish within its limit of 20\u00a0ms: 3 of 4 ranks of "
                                        "training are finished."));
  r.reached_limit = false;
  EXPECT_THAT(sentences_of(r),
              Contains("Everything stopped at 20\u00a0ms: 3 of 4 ranks of training are finished."));
}

TEST(Verdicts, PausesNameTheirRoot) {
  fabric::RunResult r = good_run();
  r.pause_frames = 4021;
  r.pause_tree = {{0, "host 0", "switch 0 port 0", "receives slowly", 3, 4021, 0.613},
                  {1, "switch 0", "switch 4 port 0", "port 0 to host 0 is held", 3, 12, 0.2}};
  EXPECT_THAT(sentences_of(r),
              Contains("Pauses begin at host 0 (receives slowly): it held switch 0 port 0 for "
                       "up to 61.3\u00a0% of the time, and these held others in turn."));
  // So short that nobody would look for it.
  r.pause_tree = {{0, "host 0", "switch 0 port 0", "receives slowly", 3, 1, 0.0001}};
  for (const Statement& s : verdicts_of(r)) EXPECT_EQ(s.verdict, Verdict::good) << s.head;
}

TEST(Verdicts, WhatIsAbsentIsNotGood) {
  fabric::RunResult r = good_run();
  r.checkers.clear();
  r.pause_frames = 3;
  EXPECT_THAT(sentences_of(r), Contains("This result holds no checks."));
  EXPECT_THAT(sentences_of(r),
              Contains("Pause frames were sent: 3; this result does not say by whom and why."));
}

TEST(Losses, AreThoseThatHappened) {
  EXPECT_THAT(losses_of(good_run()), SizeIs(0));
  fabric::RunResult r = good_run();
  r.drops = 1;
  r.watchdog_drops = 2;
  r.link_drops = 3;
  r.lost_frames = 4;
  r.receive_drops = 5;
  r.failed_requests = 6;
  EXPECT_THAT(losses_of(r), SizeIs(6));
  EXPECT_EQ(r.lost_packets(), 15U);  // requests are none
}

TEST(Evidence, IsTheNumberWithItsUnit) {
  EXPECT_EQ(evidence_of({.says = "", .metric = "flows.fct_us.p99", .found = 2768.9}),
            "flows.fct_us.p99: 2.77\u00a0ms");
  EXPECT_EQ(evidence_of({.says = "", .metric = "flows.fct_us.p99"}), "flows.fct_us.p99: not in this run");
}

}  // namespace
}  // namespace rocetune::report
