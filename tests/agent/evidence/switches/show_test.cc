// What `show` outputs of switches are read as.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/agent/evidence/switches/texts.h"

namespace rocetune::evidence {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"sonic-pfc-counters", "sonic-pfcwd", "sonic-interface-counters",
                                    "sonic-sdk-counters", "arista-pfc",  "cisco-pfc",
                                    "junos-interface",    "onyx-roce",   "switch-config"};

double fact(const Document& document, const std::string& name) {
  for (const Fact& f : document.facts) {
    if (f.name == name) return f.value;
  }
  return -1;
}

TEST(SwitchTexts, EveryFixtureIsOfTheFormatOfItsFolderAndReadWhole) {
  int files = 0;
  for (const char* folder : kFolders) {
    for (const auto& entry : fs::directory_iterator(source_root() + "/tests/fixtures/texts/" + folder)) {
      const std::string name = std::string(folder) + "/" + entry.path().filename().string();
      const TextReading reading = read_switch_fixture(name);
      ASSERT_EQ(reading.documents.size(), 1u) << name;
      EXPECT_EQ(reading.documents[0].format, folder) << name;
      EXPECT_NE(reading.documents[0].as<SwitchEvidence>(), nullptr) << name;
      // Command lines in front belong to nobody, nor does a rule above the heads.
      EXPECT_LE(reading.report.unread, 2) << name;
      ++files;
    }
  }
  EXPECT_GE(files, 30);
}

// A text that is cut anywhere is read as far as it goes.
TEST(SwitchTexts, EveryFixtureMayEndAnywhere) {
  for (const char* folder : kFolders) {
    for (const auto& entry : fs::directory_iterator(source_root() + "/tests/fixtures/texts/" + folder)) {
      const std::string text = read_file(entry.path().string(), Bytes(1 << 20)).value();
      for (std::size_t end = 0; end < text.size(); end += 7) {
        const TextReading reading = read_text(std::string_view(text).substr(0, end), "x", switch_formats());
        EXPECT_LE(reading.documents.size(), 2u) << entry.path() << " at " << end;
      }
    }
  }
}

TEST(SonicPfcCounters, BothTablesAreSummedPortByPort) {
  const TextReading reading = read_switch_fixture("sonic-pfc-counters/both-directions.txt");
  const Document& document = reading.documents.at(0);
  EXPECT_EQ(document.host, "leaf1");
  EXPECT_EQ(fact(document, "sw.pfc_rx_frames"), 1234579);
  EXPECT_EQ(fact(document, "sw.pfc_tx_frames"), 37);
  const auto& rows = document.as<SwitchEvidence>()->pfc_frames;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].port, "Ethernet4");
  EXPECT_FALSE(rows[1].of_priority[4]) << "N/A is not 0";
  EXPECT_FALSE(rows[3].sum()) << "a row of N/A has no sum";
}

TEST(SonicPfcCounters, BlanksInPlaceOfColumnsAndLinesOfDosAreNoMatter) {
  const TextReading reading = read_switch_fixture("sonic-pfc-counters/blanks-and-crlf.txt");
  EXPECT_EQ(fact(reading.documents.at(0), "sw.pfc_rx_frames"), 7);
  EXPECT_EQ(fact(reading.documents.at(0), "sw.pfc_tx_frames"), -1) << "no such table";
}

TEST(SonicPfcCounters, ARowThatIsCutOffIsNotCounted) {
  const TextReading reading = read_switch_fixture("sonic-pfc-counters/tabs-cut.txt");
  EXPECT_EQ(fact(reading.documents.at(0), "sw.pfc_tx_frames"), 5);
}

TEST(SonicPfcwd, ColumnsFollowTheStatusWord) {
  const TextReading reading = read_switch_fixture("sonic-pfcwd/stats-widths.txt");
  const Document& document = reading.documents.at(0);
  EXPECT_EQ(fact(document, "pfcwd.storms_detected"), 6);
  EXPECT_EQ(fact(document, "pfcwd.storms_restored"), 4);
  EXPECT_EQ(fact(document, "pfcwd.tx_drop"), 700);
  EXPECT_EQ(fact(document, "pfcwd.rx_drop"), 700);
  EXPECT_EQ(document.as<SwitchEvidence>()->watchdog.at(1).status, "operational");
}

TEST(SonicPfcwd, WithoutTheRuleWordsAreCounted) {
  const TextReading reading = read_switch_fixture("sonic-pfcwd/stats-no-rule.txt");
  EXPECT_EQ(fact(reading.documents.at(0), "pfcwd.tx_drop"), 41785903558.0);
}

TEST(SonicPfcwd, ConfigurationIsDetectionTimesOfPorts) {
  const SwitchEvidence content = switch_fixture("sonic-pfcwd/config.txt");
  EXPECT_EQ(content.model.ports.at("Ethernet0").watchdog->detection, milliseconds(200));
  EXPECT_EQ(content.model.ports.at("Ethernet4").watchdog->action, "forward");
  EXPECT_FALSE(content.model.ports.at("Ethernet4").watchdog->restoration);
  EXPECT_EQ(content.model.line_of("watchdog", "Ethernet4"), 5);
}

TEST(SonicInterfaceCounters, DropRatioIsOfAllPortsTogether) {
  const TextReading reading = read_switch_fixture("sonic-interface-counters/thousands.txt");
  EXPECT_DOUBLE_EQ(fact(reading.documents.at(0), "switch.tx_drop_ratio"),
                   300000.0 / (51263535.0 + 2580317.0 + 300000.0));
  EXPECT_EQ(reading.documents.at(0).as<SwitchEvidence>()->traffic.at(0).rx_drop, 3783u);
}

TEST(SonicInterfaceCounters, NotAvailableIsNotZero) {
  const TextReading reading = read_switch_fixture("sonic-interface-counters/not-available.txt");
  EXPECT_EQ(fact(reading.documents.at(0), "switch.tx_drop_ratio"), -1);
  EXPECT_FALSE(reading.documents.at(0).as<SwitchEvidence>()->traffic.at(0).tx_drop);
}

TEST(SonicInterfaceCounters, QueuesHaveTheirOwnTable) {
  const SwitchEvidence content = switch_fixture("sonic-interface-counters/queues.txt");
  ASSERT_EQ(content.queues.size(), 3u);
  EXPECT_EQ(content.queues[0].dropped, 40000u);
  EXPECT_EQ(content.queues[1].number, 3);
  EXPECT_FALSE(content.queues[2].sent);
}

TEST(SonicSdkCounters, NamesAreAsPrintedUnlessSeveralPrioritiesHaveThem) {
  const TextReading reading = read_switch_fixture("sonic-sdk-counters/two-priorities.txt");
  const Document& document = reading.documents.at(0);
  EXPECT_EQ(document.find_counter("a_pause_mac_ctrl_frames_received")->value, 12u);
  EXPECT_EQ(document.find_counter("prio4.rx_pause")->value, 7u);
  EXPECT_EQ(document.find_counter("rx_pause"), nullptr);
  const auto& rows = document.as<SwitchEvidence>()->pfc_frames;
  ASSERT_EQ(rows.size(), 2u) << "priorities say more than the sum of MAC control frames";
  EXPECT_EQ(rows[0].sum(), 12u);
  const SwitchEvidence grepped = switch_fixture("sonic-sdk-counters/grepped.txt");
  EXPECT_EQ(grepped.pfc_frames.at(0).total, 3u);
}

TEST(AristaPfc, FlagsSayWhatIsEnabledAndWhatIsActive) {
  const SwitchEvidence content = switch_fixture("arista-pfc/flags.txt");
  EXPECT_EQ(content.pfc_globally, true);
  ASSERT_EQ(content.pfc_states.size(), 3u);
  EXPECT_TRUE(content.pfc_states[0].active.value());
  EXPECT_EQ(content.pfc_states[1].priorities, PrioritySet(0x18));
  EXPECT_FALSE(content.pfc_states[2].enabled);
  EXPECT_EQ(content.model.common.watchdog->detection, milliseconds(200));
  EXPECT_EQ(content.model.common.watchdog->action, "drop");
  EXPECT_EQ(content.model.ports.at("Et3").pfc, PrioritySet());
}

TEST(AristaPfc, OlderTablesCountersAndWatchdog) {
  const SwitchEvidence old = switch_fixture("arista-pfc/old.txt");
  ASSERT_EQ(old.pfc_states.size(), 3u);
  EXPECT_TRUE(old.pfc_states[1].active.value());
  EXPECT_FALSE(old.pfc_states[2].active.value());
  EXPECT_EQ(old.pfc_states[1].priorities, PrioritySet(0x20));
  const SwitchEvidence counters = switch_fixture("arista-pfc/counters.txt");
  ASSERT_EQ(counters.pfc_frames.size(), 4u);
  EXPECT_EQ(counters.pfc_frames[3].total, 88213u);
  const SwitchEvidence watchdog = switch_fixture("arista-pfc/watchdog.txt");
  EXPECT_EQ(watchdog.watchdog.at(0).detected, 4u);
  EXPECT_EQ(watchdog.watchdog.at(0).status, "stormed");
}

TEST(CiscoPfc, BitmapsAreHexadecimalInAnySpelling) {
  const SwitchEvidence content = switch_fixture("cisco-pfc/on.txt");
  ASSERT_EQ(content.pfc_states.size(), 4u);
  EXPECT_EQ(content.pfc_states[0].priorities, PrioritySet(0x09));
  EXPECT_TRUE(content.pfc_states[0].negotiated);
  EXPECT_FALSE(content.pfc_states[1].active.value()) << "on, and for no class";
  EXPECT_EQ(content.pfc_states[3].priorities, PrioritySet(0x08));
  EXPECT_EQ(content.pfc_frames.at(0).total, 4088353u);
  const SwitchEvidence comment = switch_fixture("cisco-pfc/comment.txt");
  ASSERT_EQ(comment.pfc_states.size(), 2u);
  EXPECT_FALSE(comment.pfc_states[1].enabled);
}

TEST(JunosInterface, QueuesHaveTheirClassesAndPortsTheirNumbers) {
  const SwitchEvidence content = switch_fixture("junos-interface/pfc-and-queues.txt");
  EXPECT_EQ(content.model.ports.at("et-0/0/1").mtu, Bytes(1514));
  EXPECT_EQ(content.model.ports.at("et-0/0/2").speed, gigabits_per_second(400));
  ASSERT_EQ(content.queues.size(), 2u);
  EXPECT_EQ(content.queues[1].forwarding_class, "no-loss");
  EXPECT_EQ(content.queues[1].dropped, 5000u);
  ASSERT_EQ(content.pfc_frames.size(), 2u);
  EXPECT_EQ(content.pfc_frames[0].of_priority[3], 100u);
  EXPECT_EQ(content.traffic.at(0).tx_drop, 0u);
  EXPECT_EQ(content.traffic.at(0).tx_ok, 2000000u);
  EXPECT_EQ(switch_fixture("junos-interface/grepped.txt").pfc_frames.at(0).of_priority[3], 77777u);
}

TEST(OnyxRoce, SaysTrustClassesAndMarking) {
  const SwitchEvidence content = switch_fixture("onyx-roce/lossy.txt");
  EXPECT_EQ(content.model.common.trust, SwitchTrust::pcp);
  EXPECT_EQ(content.model.common.pfc, PrioritySet());
  const SwitchQueue& queue = content.model.common.queues.at(TrafficClass(3));
  EXPECT_EQ(queue.share_percent, 50);
  EXPECT_EQ(queue.mark_from, Bytes(150'000));
  EXPECT_TRUE(content.model.common.queues.at(TrafficClass(6)).strict.value());
}

TEST(NvueRoce, TextAndJsonSayTheSame) {
  const SwitchEvidence text = switch_fixture("onyx-roce/nvue.txt");
  EXPECT_EQ(text.model.announced_priority, Priority(3));
  EXPECT_EQ(text.model.common.priority_of_dscp.at(Dscp(26)), Priority(3));
  EXPECT_EQ(text.model.common.queue_of_priority.at(Priority(6)), TrafficClass(6));
  EXPECT_EQ(text.model.common.cable, Metres(100));
  const SwitchEvidence json = switch_fixture("onyx-roce/nvue.json");
  for (const SwitchEvidence* content : {&text, &json}) {
    EXPECT_EQ(content->model.common.pfc, PrioritySet(0x08));
    EXPECT_EQ(content->model.common.trust, SwitchTrust::both);
    // 146.48 KB of 1024: as exact as two digits are.
    EXPECT_NEAR(static_cast<double>(content->model.common.queues.at(TrafficClass(3)).mark_from->count()),
                150000, 10);
  }
}

TEST(SwitchTexts, WhatLooksAlikeIsNotTaken) {
  for (const char* text :
       {"Port Rx tx\n", "QUEUE STATUS\n", "IFACE up\n", "Prio low\n", "a = b\n", "PFC : enabled\n",
        "Last cached time was yesterday\n", "Profile: x\n", "hostname x\n", "nv show qos roce\n",
        "Mode Oper\n", "operational applied\nfoo bar\n", "schedulers = {\n", "\"QUEUE\" is full\n"}) {
    EXPECT_TRUE(read_text(text, "x", switch_formats()).documents.empty()) << text;
  }
}

}  // namespace
}  // namespace rocetune::evidence
