#include "agent/virtual_host/scenario_knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/virtual_host/virtual_scenes.h"

namespace rocetune::virtual_host {
namespace {

using host::KnobKind;
using host::KnobValue;
using ::testing::HasSubstr;

host::Knob knob(KnobKind kind, const std::string& parameter = "") { return {kPort, kind, parameter}; }

// Data 90 %, everything else 10 %, CNPs before both.
const host::EtsSetting kShares = [] {
  host::EtsSetting out;
  out.tc_of_priority[3] = TrafficClass(3);
  out.tc_of_priority[6] = TrafficClass(6);
  out.tsa[0] = out.tsa[3] = host::Tsa::ets;
  out.tx_share_percent[0] = 10;
  out.tx_share_percent[3] = 90;
  return out;
}();

// A scenario, and host 2 of it to be written to.
class Knobs : public ::testing::Test {
 protected:
  host::Host read(fabric::NodeId host = 2) const { return host_facts(FabricRun(scenario_), host); }
  Expected<> write(const std::vector<std::pair<host::Knob, KnobValue>>& values) {
    const host::Host host = read();
    std::vector<host::KnobWrite> batch;
    for (const auto& [which, value] : values)
      batch.push_back({which, host::value_of(host, which).value_or(value), value});
    return ScenarioKnobs(scenario_, 2).write(host.ports.at(0), batch);
  }
  void expect_read_back(const host::Knob& which, const KnobValue& value) {
    const auto written = write({{which, value}});
    ASSERT_TRUE(written) << written.error().text();
    const auto now = host::value_of(read(), which);
    ASSERT_TRUE(now) << now.error().why;
    EXPECT_EQ(*now, value) << host::to_text(which) << ": " << host::to_text(*now);
  }
  std::string refusal(const host::Knob& which, const KnobValue& value,
                      ErrorKind kind = ErrorKind::unsupported) {
    const host::Host before = read();
    const auto written = write({{which, value}});
    if (written) return "was written";
    EXPECT_EQ(written.error().kind(), kind);
    EXPECT_EQ(read(), before) << "nothing may change";
    return written.error().text();
  }
  fabric::Scenario scenario_ = scenario_of(kHealthy);
};

TEST_F(Knobs, ReadBackAsTheyWereWritten) {
  expect_read_back(knob(KnobKind::mtu), std::int64_t{1500});
  expect_read_back(knob(KnobKind::mtu), std::int64_t{9000});
  expect_read_back(knob(KnobKind::pfc), host::PfcSetting{.enabled = PrioritySet(0b10000)});
  expect_read_back(knob(KnobKind::pfc), host::PfcSetting{});
  expect_read_back(knob(KnobKind::ets), kShares);
  expect_read_back(knob(KnobKind::ets), host::EtsSetting{});  // all priorities in one strict class
  expect_read_back(knob(KnobKind::pfc_prevention), std::int64_t{250});
  expect_read_back(knob(KnobKind::pfc_prevention), std::int64_t{0});
  expect_read_back(knob(KnobKind::cm_default_tos), std::int64_t{TosByte(Dscp(10), Ecn::ect0).wire()});
  expect_read_back(knob(KnobKind::app_table),
                   std::vector<host::AppEntry>{{host::AppSelector::dscp, 10, Priority(3)},
                                               {host::AppSelector::dscp, 48, Priority(6)}});
  expect_read_back(knob(KnobKind::cc_param, "np_cnp_dscp"), std::int64_t{26});
  expect_read_back(knob(KnobKind::cc_param, "rp_time_reset"), std::int64_t{55});
  expect_read_back(knob(KnobKind::cc_param, "rp_clamp_tgt_rate"), std::int64_t{1});
}

TEST_F(Knobs, EveryParameterThatIsShownCanBeWritten) {
  const host::Host before = read();
  for (const auto& [name, value] : *before.ports.at(0).cc_params)
    expect_read_back(knob(KnobKind::cc_param, name), value);
  EXPECT_EQ(read(), before);
}

TEST_F(Knobs, AutoIsAHundredMilliseconds) {
  ASSERT_TRUE(write({{knob(KnobKind::pfc_prevention), std::int64_t{65535}}}));
  EXPECT_EQ(read().ports.at(0).pfc_prevention_ms, 100);
}

TEST_F(Knobs, ChangeOneHostAndNoOther) {
  const host::Host others = read(1);
  ASSERT_TRUE(write({{knob(KnobKind::mtu), std::int64_t{1500}}, {knob(KnobKind::pfc), host::PfcSetting{}}}));
  EXPECT_EQ(read(1), others);
  EXPECT_EQ(read().ports.at(0).mtu, Bytes(1500));
}

TEST_F(Knobs, WhatIsWrittenIsWhatRuns) {
  ASSERT_TRUE(write({{knob(KnobKind::cm_default_tos), std::int64_t{TosByte(Dscp(10), Ecn::ect0).wire()}}}));
  FabricRun run(scenario_);
  run.advance_to(Instant(microseconds(100)));
  EXPECT_EQ(run.network().host(2).counters().sent.packets[3], 0u);
  EXPECT_GT(run.network().host(2).counters().sent.packets[0], 0u);
  EXPECT_GT(run.network().host(1).counters().sent.packets[3], 0u);
}

TEST_F(Knobs, AllOfABatchOrNothing) {
  const host::Host before = read();
  EXPECT_FALSE(
      write({{knob(KnobKind::mtu), std::int64_t{1500}}, {knob(KnobKind::buffers), host::BufferSetting{}}}));
  EXPECT_EQ(read(), before);
}

TEST_F(Knobs, WhatTheFabricDoesNotHaveIsRefused) {
  EXPECT_THAT(refusal(knob(KnobKind::mtu), std::int64_t{4200}), HasSubstr("9000B"));
  host::EtsSetting ets = kShares;
  ets.willing = true;
  EXPECT_THAT(refusal(knob(KnobKind::ets), ets), HasSubstr("no DCBX"));
  ets = kShares;
  ets.rx_share_percent[3] = 90;
  EXPECT_THAT(refusal(knob(KnobKind::ets), ets), HasSubstr("receives is not shared"));
  ets = kShares;
  ets.tsa[1] = host::Tsa::credit_based;
  EXPECT_THAT(refusal(knob(KnobKind::ets), ets), HasSubstr("class 1 is cbs, allowed: strict, ets"));
  ets = kShares;
  ets.tx_share_percent[3] = 80;
  EXPECT_THAT(refusal(knob(KnobKind::ets), ets, ErrorKind::bad_input), HasSubstr("shares of 90 % in all"));
  EXPECT_THAT(refusal(knob(KnobKind::buffers), host::BufferSetting{}), HasSubstr("one pool"));
  EXPECT_THAT(refusal(knob(KnobKind::global_pause), host::GlobalPause{.receive = true}),
              HasSubstr("no 802.3x pause"));
  EXPECT_THAT(refusal(knob(KnobKind::dcbx_mode), host::DcbxMode{.cee = true}), HasSubstr("no DCBX"));
  EXPECT_THAT(refusal(knob(KnobKind::pfc), host::PfcSetting{.enabled = PrioritySet(8), .delay = 7}),
              HasSubstr("topology.delay"));
  EXPECT_THAT(refusal(knob(KnobKind::pfc), host::PfcSetting{.enabled = PrioritySet(0xFF)}),
              HasSubstr("headrooms of {0,1,2,3,4,5,6,7} take 800000B"));
  EXPECT_THAT(refusal(knob(KnobKind::app_table), std::vector<host::AppEntry>{}), HasSubstr("VLAN tags"));
  EXPECT_THAT(refusal(knob(KnobKind::app_table),
                      std::vector<host::AppEntry>{{host::AppSelector::udp, 4791, Priority(3)}}),
              HasSubstr("by DSCP alone"));
  EXPECT_THAT(refusal(knob(KnobKind::cm_default_tos), std::int64_t{26 << 2}), HasSubstr("ECT(0)"));
  EXPECT_THAT(refusal(knob(KnobKind::cc_param, "np_cnp_prio"), std::int64_t{6}), HasSubstr("map of DSCPs"));
  EXPECT_THAT(refusal(knob(KnobKind::cc_param, "np_cnp_prio_mode"), std::int64_t{0}),
              HasSubstr("map of DSCPs"));
  EXPECT_THAT(refusal(knob(KnobKind::cc_param, "cp_kmin"), std::int64_t{1}), HasSubstr("no such parameter"));
  EXPECT_THAT(refusal(knob(KnobKind::cc_param, "rp_gd"), std::int64_t{99}, ErrorKind::bad_input),
              HasSubstr("0 to 15"));
}

TEST_F(Knobs, APortItDoesNotHaveIsRefused) {
  const host::Host host = read();
  const auto written =
      ScenarioKnobs(scenario_, 2)
          .write(host.ports.at(0), {{{"eth1", KnobKind::mtu, ""}, std::int64_t{9000}, std::int64_t{1500}}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::absent);
}

TEST_F(Knobs, InfiniBandHasNone) {
  scenario_ = fabric::scenario_from_toml(kHealthy, "test.toml", {{"link", "infiniband"}}).value();
  EXPECT_THAT(refusal(knob(KnobKind::mtu), std::int64_t{1500}), HasSubstr("InfiniBand"));
}

}  // namespace
}  // namespace rocetune::virtual_host
