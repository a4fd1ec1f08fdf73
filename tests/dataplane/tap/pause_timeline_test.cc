#include "dataplane/tap/pause_timeline.h"

#include <gtest/gtest.h>

#include "dataplane/tap/neighbour_watch.h"
#include "dataplane/tap/report.h"
#include "tests/instants.h"

namespace rocetune::tap {
namespace {

constexpr wire::MacAddress kA{{2, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kB{{2, 0, 0, 0, 0, 2}};
constexpr BitRate kLink = gigabits_per_second(100);  // 0xFFFF quanta: 335.5 us

PfcMessage message(int priority, std::uint16_t quanta) {
  PfcMessage m{.enabled = PrioritySet::of(Priority(priority))};
  m.quanta[static_cast<std::size_t>(priority)] = PauseQuanta(quanta);
  return m;
}

TEST(PauseTimeline, XonEndsWhatXoffBegan) {
  PauseTimeline timeline(kLink);
  for (int i = 0; i < 10; ++i) {
    timeline.on_pfc(at(i * 1'000), kA, message(3, 0xFFFF));
    timeline.on_pfc(at(i * 1'000 + 40), kA, message(3, 0));
  }
  const auto facts = timeline.facts(at(0), at(10'000), {});
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].priority, Priority(3));
  EXPECT_DOUBLE_EQ(facts[0].ratio, 0.04);
  EXPECT_DOUBLE_EQ(facts[0].longest_us, 40);
  EXPECT_EQ(facts[0].interval_count, 10);
  EXPECT_TRUE(facts[0].storms.empty());
}

TEST(PauseTimeline, RenewalsAreOnePauseAndTheFileEndsIt) {
  PauseTimeline timeline(kLink);
  for (int us = 0; us <= 900; us += 300) timeline.on_pfc(at(us), kA, message(3, 0xFFFF));
  const auto facts = timeline.facts(at(0), at(1'000), {});
  EXPECT_EQ(facts[0].interval_count, 1);
  EXPECT_DOUBLE_EQ(facts[0].longest_us, 1'000);
  EXPECT_DOUBLE_EQ(facts[0].ratio, 1);
}

TEST(PauseTimeline, APauseRunsOutByItself) {
  PauseTimeline timeline(kLink);
  timeline.on_pfc(at(0), kA, message(3, 1'000));  // 5.12 us
  EXPECT_DOUBLE_EQ(timeline.facts(at(0), at(100), {})[0].longest_us, 5.12);
}

TEST(PauseTimeline, QuantaLastLongerOnASlowerLink) {
  PauseTimeline timeline(gigabits_per_second(10));
  timeline.on_pfc(at(0), kA, message(3, 1'000));
  EXPECT_DOUBLE_EQ(timeline.facts(at(0), at(100), {})[0].longest_us, 51.2);
}

// One end's Xon does not end the other end's pause; time that both ask for counts once.
TEST(PauseTimeline, TwoSourcesAreApart) {
  PauseTimeline timeline(kLink);
  timeline.on_pfc(at(0), kA, message(3, 0xFFFF));
  timeline.on_pfc(at(50), kB, message(3, 0xFFFF));
  timeline.on_pfc(at(100), kA, message(3, 0));
  timeline.on_pfc(at(200), kB, message(3, 0));
  const auto facts = timeline.facts(at(0), at(1'000), {});
  EXPECT_DOUBLE_EQ(facts[0].longest_us, 200);
  EXPECT_EQ(facts[0].sources.size(), 2U);
}

TEST(PauseTimeline, AStormIsPausedNearlyAllTheTime) {
  PauseTimeline timeline(kLink);
  for (int us = 0; us < 200'000; us += 335) timeline.on_pfc(at(us), kA, message(3, 0xFFFF));
  for (int us = 300'000; us < 500'000; us += 1'000) timeline.on_pfc(at(us), kA, message(3, 0xFFFF));
  const auto facts = timeline.facts(at(0), at(600'000), {});
  ASSERT_EQ(facts[0].storms.size(), 1U);
  EXPECT_DOUBLE_EQ(facts[0].storms[0].start_s, 0);
  EXPECT_NEAR(facts[0].storms[0].end_s, 0.2, 0.001);
  EXPECT_EQ(facts[0].storms[0].source, "02:00:00:00:00:01");
}

TEST(PauseTimeline, GlobalPauseIsARowOfItsOwn) {
  PauseTimeline timeline(kLink);
  timeline.on_global_pause(at(0), kA, PauseQuanta(1'000));
  const auto facts = timeline.facts(at(0), at(100), {});
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].priority, std::nullopt);
}

TEST(NeighbourWatch, CountsChangesPerSenderAndAgreement) {
  NeighbourWatch watch;
  wire::Lldp lldp{.chassis_id = "a", .pfc = wire::PfcTlv{.enabled = PrioritySet(0x08)}};
  watch.on_lldp(kA, lldp);
  watch.on_lldp(kB, lldp);
  watch.on_lldp(kA, lldp);
  EXPECT_EQ(watch.agreed_pfc(), PrioritySet(0x08));
  lldp.pfc->enabled = PrioritySet(0x10);
  watch.on_lldp(kA, lldp);
  EXPECT_EQ(watch.agreed_pfc(), std::nullopt);
  const auto facts = watch.facts();
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].dcbx_changes, 1);
  EXPECT_EQ(facts[0].frames, 3);
  EXPECT_EQ(facts[1].dcbx_changes, 0);
  EXPECT_EQ(facts[0].dcbx, "ieee");
}

// A chassis name comes from the network; in the page it stays text.
TEST(HtmlReport, NothingFromThePacketsBecomesMarkup) {
  TapFacts facts;
  facts.neighbours.push_back({.source = "02:00:00:00:00:01", .system_name = "<script>alert('&')</script>"});
  const std::string page = html_report(facts, "a<b>.pcap");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("a<b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;&amp;&#39;)"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

}  // namespace
}  // namespace rocetune::tap
