#include "agent/counters/watch_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/counters/deltas.h"
#include "dataplane/base/json_reader.h"
#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::port_sample;
using testing::sample;
using testing::schema;

Sample at(int second, std::uint64_t n) {
  PortSample port = port_sample("mlx5", seconds(second),
                                {{"tx_prio0_bytes", 0},
                                 {"rx_prio0_bytes", 0},
                                 {"tx_prio3_bytes", n * 12'225'000'000},
                                 {"rx_prio3_bytes", 0},
                                 {"rx_prio3_discards", n * 7},
                                 {"rx_prio3_pause", n * 3},
                                 {"rx_prio3_pause_duration", n * 125'000},
                                 {"rx_prio3_pause_transition", n * 1000},
                                 {"tx_prio3_pause_duration", 0},
                                 {"rx_discards_phy", n * 7},
                                 {"outbound_pci_stalled_rd", 0},
                                 {"outbound_pci_stalled_wr", 44}},
                                {{"np_ecn_marked_roce_packets", n * 1200},
                                 {"np_cnp_sent", n * 300},
                                 {"rp_cnp_handled", 0},
                                 {"rp_cnp_ignored", 0},
                                 {"out_of_sequence", n * 2},
                                 {"packet_seq_err", 0},
                                 {"local_ack_timeout_err", 0}});
  return sample(port);
}
WatchFrame frame() {
  return {.interval = interval_between(schema(), at(1, 0), at(2, 1)),
          .wanted = seconds(1),
          .effective = seconds(1),
          .read_time = milliseconds(2)};
}
std::string table(const WatchFrame& f) { return to_table(f, "13:24:05", {}); }

TEST(WatchTable, ShowsABusyPriorityAndCollapsesIdleOnes) {
  const std::string text = table(frame());
  EXPECT_EQ(text.substr(0, text.find("\n\n") + 1),
            "13:24:05  over 1.000 s\n"
            "port  prio      sent  received   rx pause  mean stall   tx pause  mean stall  discards\n"
            "               bit/s     bit/s  % of time          us  % of time          us   packets\n"
            "eth0  3        97.8G         0       12.5         125          0          –¹         7\n"
            "eth0  0         idle      idle\n"
            "eth0  1 2 4-7     –²        –³         –⁴                     –⁵\n");
  EXPECT_THAT(text,
              HasSubstr("port     CE  CNP sent  handled  ignored  out of seq  seq NAKs  timeouts  discards  "
                        "PCIe stall rd  wr\n"));
  EXPECT_THAT(text,
              HasSubstr("eth0  1.20k       300        0        0           2         0         0         7  "
                        "            0  44\n"));
}

TEST(WatchTable, SaysWhyAValueIsAbsentOnce) {
  const std::string text = table(frame());
  EXPECT_THAT(text, HasSubstr("¹ tx_pause_transitions: the device does not count the stalls it causes"));
  EXPECT_THAT(text, HasSubstr("rx_pause_duration_us: rx_prioN_pause_duration is not there; it exists only if "
                              "PFC is on for the priority"));
}

TEST(WatchTable, AbsentIsNeverZero) {
  WatchFrame f = frame();
  for (auto& [id, increment] : f.interval.ports[0].increments) {
    if (id.name == "cnp_ignored") increment = absent("unheard of");
  }
  EXPECT_THAT(table(f), HasSubstr("cnp_ignored: unheard of"));
}

TEST(WatchTable, TellsTheIntervalThatReadingForcedUponIt) {
  WatchFrame f = frame();
  f.wanted = milliseconds(100);
  f.effective = milliseconds(140);
  f.typical_read_time = milliseconds(7);
  EXPECT_THAT(table(f), HasSubstr("every 140ms, not 100ms: reading takes 7ms"));
}

TEST(WatchTable, PaintsOnlyWhenAsked) {
  EXPECT_THAT(table(frame()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_table(frame(), "t", {.coloured = true}), HasSubstr("\x1b"));
}

TEST(WatchTable, FramesStandInWhereThereIsNoDuration) {
  const auto ice = [](int second, std::uint64_t frames) {
    return sample(port_sample("irdma", seconds(second),
                              {{"rx_priority_3_xoff.nic", frames}, {"rx_priority_3_xon.nic", frames}}));
  };
  WatchFrame f = frame();
  f.interval = interval_between(schema(), ice(1, 0), ice(2, 35));
  EXPECT_THAT(table(f), HasSubstr("(35 frames)"));
}

TEST(WatchJson, HasUnitsInItsKeys) {
  const auto json = parse_json(to_json_line(frame()), "t").value();
  const auto& port = json.at("ports").at(0);
  EXPECT_EQ(json.at("elapsed_us").to_number<double>(), 1e6);
  const auto& three = port.at("priorities").at(3);
  EXPECT_EQ(three.at("tx_bps").to_number<double>(), 97.8e9);
  EXPECT_EQ(three.at("rx_pause_ratio").to_number<double>(), 0.125);
  EXPECT_EQ(three.at("rx_mean_stall_us").to_number<double>(), 125);
  EXPECT_EQ(three.at("increments").at("rx_discards").to_number<int>(), 7);
  EXPECT_EQ(port.at("increments").at("cnp_sent").to_number<int>(), 300);
  EXPECT_EQ(port.at("levels").at("pci_stalled_write_percent").to_number<int>(), 44);
}

TEST(WatchJson, LeavesOutWhatIsAbsentAndSaysWhy) {
  const auto json = parse_json(to_json_line(frame()), "t").value();
  const auto& port = json.at("ports").at(0).as_object();
  EXPECT_FALSE(port.at("priorities").at(3).as_object().contains("tx_mean_stall_us"));
  EXPECT_FALSE(port.at("priorities").at(0).as_object().contains("rx_pause_ratio"));
  bool found = false;
  for (const auto& entry : port.at("absent").as_array()) {
    if (entry.at("counters").at(0) != "tx_pause_transitions") continue;
    found = true;
    EXPECT_EQ(entry.at("unavailable"), "absent");
    EXPECT_EQ(entry.at("priorities").as_array().size(), 8u);
  }
  EXPECT_TRUE(found);
}

TEST(WatchJson, SaysOneReasonOnce) {
  WatchFrame f = frame();
  for (auto& [id, increment] : f.interval.ports[0].increments) increment = absent("no counter table");
  const auto json = parse_json(to_json_line(f), "t").value();
  // One for counters of the port, one for those of all eight priorities.
  EXPECT_EQ(json.at("ports").at(0).at("absent").as_array().size(), 2u);
}

TEST(WatchJson, IsOneLine) {
  const std::string line = to_json_line(frame());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(Raw, FindsTheNicsOwnNamesByPattern) {
  const Reading before = to_reading(schema(), at(1, 1));
  const Reading after = to_reading(schema(), at(2, 3));
  const auto raw = find_raw(before, after, {"rx_prio3_pause*", "np_cnp_sent"});
  std::vector<std::string> seen;
  for (const RawCounter& counter : raw) {
    seen.push_back(fmt::format("{} {}={} +{}", enum_name(counter.source), counter.name, counter.value,
                               counter.increment.value_or(0)));
  }
  EXPECT_THAT(seen,
              ElementsAre("ethtool rx_prio3_pause=9 +6", "ethtool rx_prio3_pause_duration=375000 +250000",
                          "ethtool rx_prio3_pause_transition=3000 +2000", "rdma np_cnp_sent=900 +600"));
  EXPECT_TRUE(find_raw(before, after, {}).empty());
}

TEST(Raw, AFallOrAnAppearanceHasNoIncrement) {
  const Reading before = to_reading(schema(), at(2, 3));
  const Reading after = to_reading(schema(), at(3, 1));
  EXPECT_EQ(find_raw(before, after, {"np_cnp_sent"})[0].increment.error().why, "went backwards");
  Sample without = at(2, 3);
  without.ports[0].rdma.erase("np_cnp_sent");
  EXPECT_EQ(find_raw(to_reading(schema(), without), after, {"np_cnp_sent"})[0].increment.error().why,
            "was not there before");
}

}  // namespace
}  // namespace rocetune::counters
