#include "agent/host/knob.h"

#include <gtest/gtest.h>

#include "agent/host/knob_json.h"

namespace rocetune::host {
namespace {

Expected<KnobValue> value_from_text(KnobKind kind, std::string_view text, const std::string& name) {
  return parse_json(text, name).and_then([&](const Json& json) {
    return knob_value_from_json(kind, json, JsonPath(name));
  });
}

Host host_with(const Port& port) {
  Host host;
  host.ports.push_back(port);
  return host;
}

Port full_port() {
  Port port;
  port.name = "eth0";
  port.mtu = Bytes(1500);
  port.dcb.dcbx = DcbxMode{.host = true, .ieee = true};
  port.dcb.pfc = Pfc{.enabled = PrioritySet::of(Priority(3)), .capable = 8, .delay = 7};
  Ets ets;
  ets.tsa[0] = Tsa::ets;
  ets.tx_share_percent[0] = 100;
  port.dcb.ets = ets;
  port.dcb.app =
      std::vector<AppEntry>{{AppSelector::dscp, 48, Priority(6)}, {AppSelector::dscp, 26, Priority(3)}};
  PortBuffers buffers;
  buffers.size[0] = Bytes(16000);
  buffers.total = Bytes(200000);
  port.dcb.buffers = buffers;
  port.pause = GlobalPause{.receive = true};
  port.pfc_prevention_ms = std::uint16_t{100};
  port.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 48}};
  RdmaPort rdma;
  rdma.device = "mlx5_0";
  rdma.cm_default_tos = TosByte::from_wire(106);
  port.rdma = rdma;
  return port;
}

std::vector<Knob> every_kind() {
  std::vector<Knob> knobs;
  for (const auto& [kind, name] : EnumNames<KnobKind>::names) {
    knobs.push_back({"eth0", kind, kind == KnobKind::cc_param ? "np_cnp_dscp" : ""});
  }
  return knobs;
}

TEST(Knob, EveryKindHasAValueInAFullyReadHost) {
  const Host host = host_with(full_port());
  for (const Knob& knob : every_kind()) {
    const auto value = value_of(host, knob);
    ASSERT_TRUE(value) << to_text(knob) << ": " << value.error().why;
    EXPECT_TRUE(is_valid(knob.kind, *value)) << to_text(knob);
  }
}

TEST(Knob, EveryValueReadsBackFromItsJson) {
  const Host host = host_with(full_port());
  for (const Knob& knob : every_kind()) {
    const KnobValue value = *value_of(host, knob);
    const auto read = value_from_text(knob.kind, to_json_text(value), "v");
    ASSERT_TRUE(read) << to_text(knob) << ": " << read.error().text();
    EXPECT_EQ(*read, value) << to_text(knob);
  }
}

TEST(Knob, WhatWasNotReadSaysWhy) {
  Port port = full_port();
  port.dcb.pfc = denied("not root");
  port.cc_params = denied("kernel lockdown");
  const Host host = host_with(port);
  EXPECT_EQ(value_of(host, {"eth0", KnobKind::pfc, ""}).error(),
            (Unavailable{Unavailable::Kind::denied, "not root"}));
  EXPECT_EQ(value_of(host, {"eth0", KnobKind::cc_param, "rp_gd"}).error().why, "kernel lockdown");
  EXPECT_EQ(value_of(host, {"eth9", KnobKind::pfc, ""}).error().kind, Unavailable::Kind::absent);
}

TEST(Knob, AMissingCcParameterIsAbsentAndNotZero) {
  const Host host = host_with(full_port());
  EXPECT_EQ(value_of(host, {"eth0", KnobKind::cc_param, "rp_gd"}).error().kind, Unavailable::Kind::absent);
}

TEST(Knob, OnlyEntriesThatGetAnotherPriorityAreInTheWay) {
  const auto dscp = [](std::uint16_t value, int priority) {
    return AppEntry{AppSelector::dscp, value, Priority(priority)};
  };
  const AppEntry ether{AppSelector::ethertype, 26, Priority(1)};
  EXPECT_EQ(entries_in_the_way({dscp(26, 2), dscp(30, 4), dscp(48, 6), ether}, {dscp(26, 3), dscp(48, 6)}),
            std::vector{dscp(26, 2)});
  EXPECT_TRUE(entries_in_the_way({dscp(26, 3)}, {}).empty());
  // Two priorities for one: the one that stays is not touched.
  EXPECT_EQ(entries_in_the_way({dscp(26, 2), dscp(26, 3)}, {dscp(26, 3)}), std::vector{dscp(26, 2)});
}

TEST(Knob, AppTablesCompareInOneOrder) {
  const Host host = host_with(full_port());
  const auto value = value_of(host, {"eth0", KnobKind::app_table, ""});
  const auto& entries = std::get<std::vector<AppEntry>>(*value);
  EXPECT_EQ(entries.front().protocol, 26);
  const auto read = value_from_text(
      KnobKind::app_table,
      R"([{"selector":"dscp","protocol":48,"priority":6},{"selector":"dscp","protocol":26,"priority":3}])",
      "v");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, *value);
}

TEST(Knob, RefusesAValueOfAnotherKindOrOutOfRange) {
  EXPECT_FALSE(is_valid(KnobKind::pfc, KnobValue(std::int64_t{3})));
  EXPECT_FALSE(is_valid(KnobKind::mtu, KnobValue(std::int64_t{67})));
  EXPECT_TRUE(is_valid(KnobKind::mtu, KnobValue(std::int64_t{68})));
  for (const auto& [kind, text] : std::vector<std::pair<KnobKind, std::string>>{
           {KnobKind::cm_default_tos, "256"},
           {KnobKind::cm_default_tos, "-1"},
           {KnobKind::pfc_prevention, "65536"},
           {KnobKind::cc_param, "4294967296"},
           {KnobKind::pfc, R"({"enabled":[8]})"},
           {KnobKind::pfc, "3"},
           {KnobKind::app_table, R"([{"selector":"dscp","protocol":64,"priority":3}])"},
           {KnobKind::ets, R"({"tx_share_percent_of_tc":[101,0,0,0,0,0,0,0]})"},
           {KnobKind::buffers, R"({"buffer_of_priority":[8,0,0,0,0,0,0,0]})"},
       }) {
    const auto read = value_from_text(kind, text, "v.json");
    ASSERT_FALSE(read) << enum_name(kind) << " " << text;
    EXPECT_EQ(read.error().kind(), ErrorKind::bad_input);
    EXPECT_NE(read.error().text().find("v.json"), std::string::npos);
  }
}

TEST(Knob, TextIsForPeople) {
  const Host host = host_with(full_port());
  const auto text = [&](KnobKind kind) {
    const Knob knob{"eth0", kind, ""};
    return to_text(knob, *value_of(host, knob));
  };
  EXPECT_EQ(to_text(Knob{"eth0", KnobKind::cc_param, "rp_gd"}), "eth0 cc_params/rp_gd");
  EXPECT_EQ(to_text(Knob{"eth0", KnobKind::pfc, ""}), "eth0 pfc");
  EXPECT_EQ(text(KnobKind::pfc), "priorities {3}, delay 7");
  EXPECT_EQ(text(KnobKind::app_table), "dscp 26->3 48->6");
  EXPECT_EQ(text(KnobKind::mtu), "1500 B");
  EXPECT_EQ(text(KnobKind::pfc_prevention), "100 ms");
  EXPECT_EQ(text(KnobKind::cm_default_tos), "106 (DSCP 26, ECT(0))");
  EXPECT_EQ(text(KnobKind::global_pause), "rx on, tx off, autoneg off");
  EXPECT_EQ(text(KnobKind::dcbx_mode), "host ieee");
  EXPECT_EQ(to_text(KnobValue(std::vector<AppEntry>{})), "no entries");
}

}  // namespace
}  // namespace rocetune::host
