// What people and programs get: the text to the byte, the fields of the JSON.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "agent/diagnose/report_json.h"
#include "agent/diagnose/report_text.h"
#include "dataplane/base/json_reader.h"
#include "tests/agent/diagnose/host_builder.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

const std::string kGolden = source_root() + "/tests/agent/diagnose/golden/";

// Compares with a kept file; ROCETUNE_UPDATE_GOLDEN=1 writes it: read the difference before you commit it.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = kGolden + name;
  if (std::getenv("ROCETUNE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(text, kept.str()) << path;
}

// Some of everything: a broken map, a slow receiver, facts that are denied, a port that is no RoCE port.
Scenario troubled() {
  Scenario s = healthy();
  s.map(26, 2);
  s.dcb().buffers->size[1] = Bytes(20'480);
  s.count_priority("tx_pause_duration_us", 3, 400'000);
  s.count_priority("tx_pause_frames", 3, 2'000);
  s.level("pci_stalled_write_percent", 55);
  s.port(1).cc_params = denied("kernel lockdown (integrity)");
  s.port(1).pfc_prevention_ms = std::uint16_t{0};
  s.host.boot_unit_installed = false;
  host::Port plain;
  plain.name = "eno1";
  plain.nic = "unknown";
  plain.driver = "tg3";
  plain.mtu = Bytes(1500);
  plain.rdma = absent("no RDMA device on this netdev");
  s.host.ports.push_back(plain);
  return s;
}

TEST(ReportText, Golden) { expect_golden("report.txt", to_text(troubled().report(), {})); }

TEST(ReportText, GoldenOfAHealthyHost) { expect_golden("healthy.txt", to_text(healthy().report(), {})); }

TEST(ReportText, TheHostThatTheCommandLineTestsRead) {
  expect_golden("troubled-host.json", host::to_json_text(troubled().host));
}

TEST(ReportText, IsBrokenAtTheWidth) {
  const std::string text = to_text(troubled().report(), {.width = 60});
  std::istringstream lines(text);
  std::string line;
  bool in_words = false;
  while (std::getline(lines, line)) {
    // Tables and shell lines are never broken: they are copied as they are.
    in_words = line.starts_with("    Fix:") || line.starts_with("First:");
    EXPECT_TRUE(!in_words || line.size() <= 60) << line;
  }
}

TEST(ReportText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(to_text(troubled().report(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(troubled().report(), {.coloured = true}).find('\x1b'), std::string::npos);
}

TEST(ReportText, ListsWhatPassedWithItsEvidenceWhenAsked) {
  const std::string text = to_text(healthy().report(), {.list_passed = true});
  EXPECT_NE(text.find("  MAP-5  eth0\n"), std::string::npos);
  EXPECT_NE(text.find("size of buffer 1"), std::string::npos);
}

TEST(ReportJson, HasTheFieldsThatProgramsRead) {
  const Scenario s = troubled();
  const std::string text = to_json_text(s.report(), {{"h.json", "rocetune-host", "node1", std::nullopt}},
                                        facts_of(s.host, "h.json"));
  const auto parsed = parse_json(text, "report");
  ASSERT_TRUE(parsed) << parsed.error().text();
  const auto& root = parsed->as_object();
  EXPECT_EQ(root.at("inputs").as_array()[0].as_object().at("file").as_string(), "h.json");
  EXPECT_TRUE(root.at("inputs").as_array()[0].as_object().at("phase").is_null());

  const auto& finding = root.at("findings").as_array()[0].as_object();
  EXPECT_EQ(finding.at("rule").as_string(), "MAP-5");
  EXPECT_EQ(finding.at("severity").as_string(), "critical");
  EXPECT_EQ(finding.at("subject").as_string(), "eth0");
  EXPECT_FALSE(finding.at("evidence").as_array().empty());
  EXPECT_FALSE(finding.at("cause").as_string().empty());
  const auto& change = finding.at("fix").as_object().at("changes").as_array()[0].as_object();
  EXPECT_EQ(change.at("kind").as_string(), "app_table");
  EXPECT_EQ(change.at("port").as_string(), "eth0");
  EXPECT_EQ(change.at("after").as_array()[0].as_object().at("priority").as_int64(), 3);
  EXPECT_FALSE(finding.at("fix").as_object().at("commands").as_array().empty());

  const auto& not_checked = root.at("not_checked").as_array()[0].as_object();
  EXPECT_FALSE(not_checked.at("rule").as_string().empty());
  EXPECT_FALSE(not_checked.at("reason").as_string().empty());
}

TEST(ReportJson, FactsAreThoseThatAreKnown) {
  Scenario s = healthy();
  s.host.ports.resize(1);
  const FactTable facts = facts_of(s.host, "h.json");
  EXPECT_EQ(facts.at("qos.pfc_mask@h.json"), 8);
  EXPECT_EQ(facts.at("qos.dscp_26_prio@h.json"), 3);
  EXPECT_EQ(facts.at("ets.prio3_share_pct@h.json"), 60);
  EXPECT_EQ(facts.at("mtu.active_B@h.json"), 4096);
  EXPECT_EQ(facts.at("mtu.netdev_B@h.json"), 9000);
  EXPECT_EQ(facts.at("gid.rows@h.json"), 4);
  EXPECT_EQ(facts.at("gid.best_index@h.json"), 3);
  EXPECT_EQ(facts.at("pcie.width@h.json"), 16);
  EXPECT_FALSE(facts.contains("ets.prio6_share_pct@h.json"));  // strict has no share

  s.dcb().pfc = absent("no");
  s.rdma().active_mtu.reset();
  EXPECT_FALSE(facts_of(s.host, "h.json").contains("qos.pfc_mask@h.json"));
  EXPECT_FALSE(facts_of(s.host, "h.json").contains("mtu.active_B@h.json"));
}

TEST(ReportJson, FactsOfSeveralPortsNameThem) {
  Scenario s = healthy();
  s.port(1).mtu = Bytes(4200);
  const FactTable facts = facts_of(s.host, "h.json");
  EXPECT_EQ(facts.at("qos.eth1.pfc_mask@h.json"), 8);
  EXPECT_EQ(facts.at("gid.best_index.mlx5_1@h.json"), 3);
  EXPECT_FALSE(facts.contains("mtu.netdev_B@h.json"));  // they differ
}

}  // namespace
}  // namespace rocetune::diagnose
