#include "agent/virtual_host/fabric_run.h"

#include <gtest/gtest.h>

#include <deque>

#include "dataplane/fabric/result.h"
#include "tests/agent/virtual_host/virtual_scenes.h"

namespace rocetune::virtual_host {
namespace {

TEST(FabricRun, LookingChangesNothing) {
  for (const std::string_view text : {kHealthy, kPaused}) {
    const fabric::Scenario scenario = scenario_of(text);
    const fabric::RunResult in_one_go = fabric::run(scenario);
    FabricRun looked_at(scenario);
    std::deque<counters::Sampler> samplers;
    const VirtualClock clock(looked_at);
    for (fabric::NodeId host = 0; host < scenario.topology.hosts; ++host)
      samplers.emplace_back(schema(), counter_readers(looked_at, host), clock);
    std::size_t looks = 0;
    while (!looked_at.is_over()) {
      looked_at.advance_to(looked_at.now() + microseconds(7));
      for (fabric::NodeId host = 0; host < scenario.topology.hosts; ++host) {
        samplers[host].read();
        host_facts(looked_at, host);
      }
      ++looks;
    }
    EXPECT_GT(looks, 50u);
    EXPECT_EQ(looked_at.network().event_log_sha256(), in_one_go.event_log_sha256) << text;
  }
}

TEST(FabricRun, FinishStandsWhereTheTrafficEnds) {
  FabricRun run(scenario_of(kHealthy));
  EXPECT_EQ(run.now(), Instant());
  EXPECT_FALSE(run.is_over());
  run.advance_to(Instant(microseconds(10)));
  EXPECT_EQ(run.now(), Instant(microseconds(10)));
  run.advance_to(Instant(microseconds(5)));
  EXPECT_EQ(run.now(), Instant(microseconds(10)));
  run.finish();
  EXPECT_TRUE(run.is_over());
  // 8 MB at 100 Gb/s, headers on top.
  EXPECT_GT(run.now(), Instant(microseconds(640)));
  EXPECT_LT(run.now(), Instant(microseconds(900)));
  const Instant end = run.now();
  run.finish();
  EXPECT_EQ(run.now(), end);
}

TEST(FabricRun, StopsAtTheLimit) {
  fabric::Scenario scenario = scenario_of(kHealthy);
  scenario.limit = microseconds(100);
  FabricRun run(scenario);
  run.finish();
  EXPECT_TRUE(run.is_over());
  EXPECT_EQ(run.now(), Instant(microseconds(100)));
  EXPECT_FALSE(run.network().is_finished());
}

TEST(FabricRun, AllIsReadOnceItWasReadAfterTheEnd) {
  FabricRun run(scenario_of(kHealthy));
  const VirtualClock clock(run);
  counters::Sampler sampler(schema(), counter_readers(run, 0), clock);
  sampler.read();
  EXPECT_FALSE(run.is_all_read());
  run.finish();
  EXPECT_FALSE(run.is_all_read());
  sampler.read();
  EXPECT_TRUE(run.is_all_read());
}

TEST(FabricRun, TheClockIsVirtualAndWaitingRunsTheFabric) {
  FabricRun run(scenario_of(kHealthy));
  VirtualClock clock(run);
  clock.sleep_for(microseconds(30));
  EXPECT_EQ(run.now(), Instant(microseconds(30)));
  EXPECT_EQ(clock.unix_ns(), 30'000);
  EXPECT_GT(run.network().host(0).counters().sent.packets[3], 0u);
}

TEST(HostNamed, OneOfTheFabricsHosts) {
  const fabric::Scenario scenario = scenario_of(kHealthy);
  EXPECT_EQ(host_named("h0", scenario.topology), 0u);
  EXPECT_EQ(host_named("h3", scenario.topology), 3u);
  for (const char* wrong : {"h4", "3", "h", "", "h03", "h+1", "host 3", "h-1", "h99999999999"}) {
    const auto host = host_named(wrong, scenario.topology);
    ASSERT_FALSE(host) << wrong;
    EXPECT_EQ(host.error().kind(), ErrorKind::bad_input);
    EXPECT_NE(host.error().text().find("h0 to h3"), std::string::npos) << host.error().text();
  }
}

}  // namespace
}  // namespace rocetune::virtual_host
