#include "agent/counters/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using ::testing::HasSubstr;
using testing::port_sample;
using testing::schema;

PortSample with_schema(PortSample sample) {
  apply_schema(schema(), sample);
  return sample;
}
Observed<std::uint64_t> value(const PortSample& sample, std::string name,
                              std::optional<Priority> priority = {}) {
  return sample.values.at(CounterId{std::move(name), priority});
}

TEST(Reading, Mlx5NamesBecomeOurs) {
  const PortSample s = with_schema(port_sample(
      "mlx5", seconds(1), {{"rx_prio3_pause_duration", 7}, {"tx_prio0_bytes", 9}}, {{"np_cnp_sent", 5}}));
  EXPECT_EQ(value(s, "rx_pause_duration_us", Priority(3)), 7u);
  EXPECT_EQ(value(s, "tx_bytes", Priority(0)), 9u);
  EXPECT_EQ(value(s, "cnp_sent"), 5u);
}

TEST(Reading, EveryCounterOfTheSchemaIsThereOrSaysWhyNot) {
  const PortSample s = with_schema(port_sample("mlx5", seconds(1), {{"x", 1}}));
  EXPECT_EQ(s.values.size(), schema().slots().size());
  for (const auto& [id, observed] : s.values) {
    ASSERT_FALSE(observed) << to_text(id);
    EXPECT_FALSE(observed.error().why.empty()) << to_text(id);
  }
}

TEST(Reading, PauseRowsWithoutPfcAreAbsentNotZero) {
  const PortSample s = with_schema(port_sample("mlx5", seconds(1), {{"rx_prio3_pause", 7}}));
  const auto why = value(s, "rx_pause_frames", Priority(4));
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().kind, Unavailable::Kind::absent);
  EXPECT_EQ(why.error().why, "rx_prio4_pause is not there; it exists only if PFC is on for the priority");
}

TEST(Reading, IceHasNoPauseDuration) {
  const PortSample s = with_schema(
      port_sample("irdma", seconds(1), {{"rx_priority_3_xoff.nic", 7}, {"rx_priority_3_xon.nic", 6}}));
  EXPECT_EQ(value(s, "rx_pause_frames", Priority(3)), 7u);
  EXPECT_EQ(value(s, "rx_pause_transitions", Priority(3)), 6u);
  const auto duration = value(s, "rx_pause_duration_us", Priority(3));
  ASSERT_FALSE(duration);
  EXPECT_THAT(duration.error().why, HasSubstr("not how long"));
}

TEST(Reading, OldAndNewNamesOfBnxt) {
  const PortSample in_tree =
      with_schema(port_sample("bnxt", seconds(1), {}, {{"tx_cnp_pkts", 1}, {"seq_err_naks_rcvd", 2}}));
  EXPECT_EQ(value(in_tree, "cnp_sent"), 1u);
  EXPECT_EQ(value(in_tree, "sequence_naks_received"), 2u);
  const PortSample out_of_tree =
      with_schema(port_sample("bnxt", seconds(1), {}, {{"np_cnp_sent", 3}, {"packet_seq_err", 4}}));
  EXPECT_EQ(value(out_of_tree, "cnp_sent"), 3u);
  EXPECT_EQ(value(out_of_tree, "sequence_naks_received"), 4u);
}

TEST(Reading, BnxtTransitionsCountBothEdges) {
  const PortSample s = with_schema(port_sample("bnxt", seconds(1), {{"pfc_pri3_rx_transitions", 9}}));
  EXPECT_EQ(value(s, "rx_pause_transitions", Priority(3)), 4u);
}

TEST(Reading, RepresentorsPrefixQueueCountersWithVport) {
  const PortSample s = with_schema(port_sample("mlx5", seconds(1), {}, {{"vport_out_of_sequence", 3}}));
  EXPECT_EQ(value(s, "out_of_sequence"), 3u);
  const PortSample both =
      with_schema(port_sample("mlx5", seconds(1), {}, {{"vport_out_of_buffer", 3}, {"out_of_buffer", 8}}));
  EXPECT_EQ(value(both, "no_receive_wqe"), 8u);
}

TEST(Reading, DcbCountsStandInWhereEthtoolHasNone) {
  const PortSample s = with_schema(port_sample("bnxt", seconds(1), {}, {}, {{"pfc_indications_3", 11}}));
  EXPECT_EQ(value(s, "rx_pause_frames", Priority(3)), 11u);
  const PortSample both = with_schema(
      port_sample("bnxt", seconds(1), {{"rx_pfc_ena_frames_pri3", 12}}, {}, {{"pfc_indications_3", 11}}));
  EXPECT_EQ(value(both, "rx_pause_frames", Priority(3)), 12u);
}

TEST(Reading, NamesWithATrailingBlankAreFound) {
  const PortSample s = with_schema(port_sample("mlx5", seconds(1), {{"tx_pause_storm_warning_events ", 2}}));
  EXPECT_EQ(value(s, "pause_storm_warnings"), 2u);
}

TEST(Reading, UnknownNicHasNoTable) {
  const PortSample s = with_schema(port_sample("unknown", seconds(1), {{"tx_prio0_bytes", 9}}));
  EXPECT_THAT(value(s, "tx_bytes", Priority(0)).error().why, HasSubstr("no counter table"));
}

TEST(Reading, ASourceThatWasDeniedIsDenied) {
  PortSample raw = port_sample("mlx5", seconds(1), {{"tx_prio0_bytes", 9}});
  raw.unread.emplace(Source::rdma, denied("no permission").value());
  const PortSample s = with_schema(raw);
  EXPECT_EQ(value(s, "cnp_sent").error().kind, Unavailable::Kind::denied);
  EXPECT_EQ(value(s, "tx_bytes", Priority(0)), 9u);
}

TEST(Reading, ASourceNobodyReadIsNotRead) {
  const PortSample s = with_schema(port_sample("mlx5", Duration(), {{"tx_prio0_bytes", 9}}));
  EXPECT_EQ(value(s, "cnp_sent").error().kind, Unavailable::Kind::not_read);
}

TEST(Reading, SampleAndReadingAreTheSame) {
  PortSample s = port_sample("mlx5", seconds(2), {{"tx_prio0_bytes", 9}, {"b", 2}}, {{"np_cnp_sent", 5}});
  s.unread.emplace(Source::dcb, absent("no DCB").value());
  s.dcb_at = Instant();
  s.rdma_resolution = milliseconds(10);
  s.speed = gigabits_per_second(100);
  apply_schema(schema(), s);
  EXPECT_EQ(to_sample(schema(), to_reading(schema(), s)), s);
}

TEST(Reading, LayoutIsKeptWhileNamesAreTheSameObject) {
  PortReading reading = to_reading(schema(), port_sample("mlx5", seconds(1), {{"tx_prio0_bytes", 9}}));
  const auto layout = reading.layout;
  reading.blocks[0]->values[0] = 10;
  lay_out(schema(), reading);
  EXPECT_EQ(reading.layout, layout);
  reading.blocks[0]->names = std::make_shared<NameList>(*reading.blocks[0]->names);
  lay_out(schema(), reading);
  EXPECT_NE(reading.layout, layout);
}

}  // namespace
}  // namespace rocetune::counters
