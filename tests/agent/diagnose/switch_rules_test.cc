// Rules over texts of switches: each with texts that pass, that are found and that cannot be judged.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/diagnose/engine.h"
#include "agent/evidence/switches/formats.h"
#include "dataplane/base/file.h"
#include "tests/agent/diagnose/host_builder.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;  // file, text

std::string fixture(const std::string& name) {
  return read_file(source_root() + "/tests/fixtures/texts/" + name, Bytes(1 << 20)).value();
}

enum class Beside { nothing, healthy_host };

Report judge_texts(const Texts& texts, Beside beside = Beside::nothing, const Intent& declared = {},
                   const std::function<void(Scenario&)>& change = {}) {
  std::vector<evidence::FileReport> files;
  std::vector<evidence::Document> documents;
  for (const auto& [file, text] : texts) {
    auto reading = evidence::read_text(text, file, evidence::switch_formats());
    files.push_back(std::move(reading.report));
    for (auto& document : reading.documents) documents.push_back(std::move(document));
  }
  const evidence::Dossier dossier(std::move(files), std::move(documents));
  Scenario scenario = healthy();
  if (change) change(scenario);
  const JudgedHost hosts[] = {{&scenario.host}};
  Facts facts{.declared = declared, .policy = test_policy()};
  if (beside == Beside::healthy_host) facts.hosts = hosts;
  facts.dossier = &dossier;
  std::vector<const Rule*> rules;
  for (const auto family :
       {switch_class_rules(), switch_pause_rules(), switch_buffer_rules(), switch_source_rules()}) {
    for (const Rule& rule : family) rules.push_back(&rule);
  }
  return diagnose(facts, rules);
}

std::string alarms_of(const Report& report) {
  std::string out;
  for (const std::string& id : alarms(report)) out += (out.empty() ? "" : " ") + id;
  return out;
}
bool passed(const Report& report, std::string_view id) {
  return std::ranges::any_of(report.passed, [&](const Passed& p) { return p.rule == id; });
}
std::string not_checked(const Report& report, std::string_view id) {
  for (const NotChecked& n : report.not_checked) {
    if (n.rule == id) return n.reason;
  }
  return "";
}
const Finding& finding(const Report& report, std::string_view id) {
  static const Finding kNone;
  for (const Finding& f : report.findings) {
    if (f.rule == id) return f;
  }
  return kNone;
}

TEST(SwitchRules, WithoutATextOfASwitchNothingIsChecked) {
  const Report report = judge_texts({{"x.txt", "nothing of the kind\n"}}, Beside::healthy_host);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.passed.empty());
  EXPECT_EQ(report.not_checked.size(), 15u);
}

// ---- the watchdog ----

TEST(SwitchWatchdog, AQuietOnePasses) {
  const Report report = judge_texts({{"pfcwd.txt", fixture("sonic-pfcwd/quiet.txt")}});
  EXPECT_EQ(alarms_of(report), "");
  EXPECT_TRUE(passed(report, "SW-1"));
  EXPECT_TRUE(passed(report, "PFC-5"));
}

TEST(SwitchWatchdog, StormsAreTheNeighboursFault) {
  const Report report = judge_texts({{"pfcwd.txt", fixture("sonic-pfcwd/stats-widths.txt")}});
  EXPECT_EQ(alarms_of(report), "PFC-5 SW-1");
  const Finding& f = finding(report, "SW-1");
  EXPECT_EQ(f.severity, Severity::critical);
  EXPECT_EQ(f.subject, "Ethernet0 queue 3");
  EXPECT_EQ(f.evidence.at(0).source, "pfcwd.txt:3");
  EXPECT_NE(f.cause.find("watchdog's action, not by full buffers"), std::string::npos);
}

TEST(SwitchWatchdog, AStormThatIsOverIsNoStormNow) {
  const Report report = judge_texts({{"pfcwd.txt", fixture("sonic-pfcwd/stats-no-rule.txt")}});
  EXPECT_EQ(alarms_of(report), "SW-1");
  EXPECT_EQ(alarms_of(judge_texts({{"eos.txt", fixture("arista-pfc/watchdog.txt")}})), "PFC-5 SW-1")
      << "stuck once more than recovered";
}

TEST(SwitchWatchdog, AStormWithoutAPauseFrameIsAContradiction) {
  const Report report = judge_texts(
      {{"pfcwd.txt",
        "QUEUE STATUS STORM DETECTED/RESTORED TX OK/DROP RX OK/DROP\nEthernet8:3 stormed 1/0 0/5 0/0\n"},
       {"pfc.txt", "Port Rx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7\nEthernet8 0 0 0 0 0 0 0 0\n"}});
  EXPECT_EQ(alarms_of(report), "SW-1 SW-3");
  EXPECT_EQ(finding(report, "SW-3").subject, "Ethernet8 queue 3");
}

TEST(SwitchWatchdog, ItMustBeSlowerThanTheNic) {
  const Texts texts{{"config.txt", fixture("sonic-pfcwd/config.txt")}};
  EXPECT_TRUE(passed(judge_texts(texts, Beside::healthy_host), "PFC-4"));
  EXPECT_NE(not_checked(judge_texts(texts), "PFC-4"), "") << "no NIC";
  const Report slow = judge_texts(texts, Beside::healthy_host, {}, [](Scenario& s) {
    for (host::Port& port : s.host.ports) port.pfc_prevention_ms = std::uint16_t{8000};
  });
  EXPECT_EQ(alarms_of(slow), "PFC-4");
  const Texts nxos{{"run.txt",
                    "interface Ethernet1/1\n  priority-flow-control mode on\n"
                    "  priority-flow-control watch-dog-interval 100\n"}};
  EXPECT_NE(alarms_of(judge_texts(nxos, Beside::healthy_host)).find("PFC-4"), std::string::npos)
      << "100 ms is not below 100 ms";
}

// ---- PFC in force ----

TEST(SwitchPfc, GlobalIsNotThePort) {
  EXPECT_EQ(alarms_of(judge_texts({{"pfc.txt", fixture("arista-pfc/all-disabled.txt")}})), "SW-2");
  const Report some = judge_texts({{"pfc.txt", fixture("arista-pfc/flags.txt")}});
  EXPECT_EQ(alarms_of(some), "MAP-3") << "ports differ; one without PFC may carry no RoCE";
  EXPECT_EQ(finding(some, "SW-2").severity, Severity::info);
  EXPECT_EQ(alarms_of(judge_texts({{"pfc.txt", fixture("arista-pfc/old.txt")}})), "SW-2")
      << "enabled, not active";
}

TEST(SwitchPfc, AutoNeedsDcbx) {
  EXPECT_EQ(alarms_of(judge_texts({{"pfc.txt", fixture("cisco-pfc/all-auto-off.txt")}})), "SW-2");
  const Report pausing = judge_texts({{"pfc.txt", fixture("cisco-pfc/auto-off.txt")}});
  EXPECT_EQ(alarms_of(pausing), "SW-2");
  EXPECT_NE(finding(pausing, "SW-2").fix.text.find("mode on"), std::string::npos);
  const Report on =
      judge_texts({{"pfc.txt", "Port Mode Oper(VL bmap) RxPPP TxPPP\nEthernet1/1 On On (8) 5 7\n"}});
  EXPECT_EQ(alarms_of(on), "");
  EXPECT_TRUE(passed(on, "SW-2"));
}

TEST(SwitchPfc, ALosslessQueueThatCarriesNothing) {
  const char* const kUnused =
      "Physical interface: et-0/0/1, Enabled, Physical link is Up\n"
      "  Queue counters:       Queued packets  Transmitted packets      Dropped packets\n"
      "    0                        5000000              5000000                    0\n"
      "    4                              0                    0                    0\n"
      "  Queue number:         Mapped forwarding classes\n"
      "    0                   best-effort\n"
      "    4                   NO-LOSS\n";
  EXPECT_EQ(alarms_of(judge_texts({{"if.txt", kUnused}})), "SW-2");
  const Report used = judge_texts({{"if.txt", fixture("junos-interface/pfc-and-queues.txt")}});
  EXPECT_EQ(alarms_of(used), "LOSS-1 SW-3") << "0.5 % of the lossless queue, and no drop at the interface";
  EXPECT_TRUE(passed(used, "SW-2"));
  const Texts sonic{{"queues.txt",
                     "Port TxQ Counter/pkts Counter/bytes Drop/pkts Drop/bytes\n"
                     "Ethernet0 UC0 68000000 1 0 0\nEthernet0 UC3 0 0 0 0\n"}};
  EXPECT_EQ(alarms_of(judge_texts(sonic)), "") << "which queue is lossless is not known";
}

TEST(SwitchPfc, CountersOfZeroAreNotExercised) {
  const Report report = judge_texts(
      {{"pfc.txt", "Port Rx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7\nEthernet8 0 0 0 0 0 0 0 0\n"}});
  EXPECT_EQ(alarms_of(report), "");
  EXPECT_NE(not_checked(report, "SW-2").find("not exercised"), std::string::npos);
}

// ---- the class ----

TEST(SwitchClass, SwitchesThatFitTheHostPass) {
  for (const char* name : {"onyx-roce/nvue.txt", "switch-config/nvue-roce.txt", "switch-config/junos-set.txt",
                           "switch-config/routeros.txt"}) {
    const Report report = judge_texts({{"switch.txt", fixture(name)}}, Beside::healthy_host);
    EXPECT_TRUE(passed(report, "MAP-3")) << name << ": " << alarms_of(report);
    EXPECT_TRUE(passed(report, "MAP-5")) << name << ": " << alarms_of(report);
    EXPECT_EQ(alarms_of(report), std::string(name).ends_with("routeros.txt") ? "MAP-1" : "") << name;
  }
}

TEST(SwitchClass, StockSonicSendsDscp26IntoALossyClass) {
  const Report report =
      judge_texts({{"config_db.json", fixture("switch-config/sonic.config_db.json")}}, Beside::healthy_host);
  EXPECT_NE(alarms_of(report).find("MAP-5"), std::string::npos);
  const Finding& f = finding(report, "MAP-5");
  EXPECT_EQ(f.severity, Severity::critical);
  EXPECT_NE(f.cause.find("DSCP 26, which this switch sends to priority 1"), std::string::npos) << f.cause;
  Intent three;
  three.dscp = Dscp(3);
  three.origin = "--dscp";
  EXPECT_EQ(finding(judge_texts({{"config_db.json", fixture("switch-config/sonic.config_db.json")}},
                                Beside::nothing, three),
                    "MAP-5")
                .rule,
            "");
}

TEST(SwitchClass, AnotherPriorityAtEitherEnd) {
  const Texts texts{{"leaf.txt",
                     "nv set qos mapping default-global trust l3\n"
                     "nv set qos mapping default-global dscp 26 switch-priority 5\n"
                     "nv set qos pfc default-global switch-priority 5\n"}};
  EXPECT_EQ(alarms_of(judge_texts(texts, Beside::healthy_host)), "MAP-3 MAP-5");
  EXPECT_EQ(alarms_of(judge_texts(texts)), "") << "without a host nothing contradicts it";
}

TEST(SwitchClass, TwoSwitchesThatDiffer) {
  EXPECT_EQ(alarms_of(judge_texts({{"leaf1.txt", "nv set qos pfc default-global switch-priority 3\n"},
                                   {"leaf2.txt", "nv set qos pfc default-global switch-priority 4\n"}})),
            "MAP-3");
  EXPECT_EQ(alarms_of(judge_texts({{"leaf1.txt", "nv set qos pfc default-global switch-priority 3,4,5\n"}})),
            "MAP-3");
}

TEST(SwitchClass, AGroupThatMissesTheLosslessOne) {
  const Report report = judge_texts({{"session.txt", fixture("switch-config/nxos-session.txt")}});
  EXPECT_EQ(alarms_of(report), "MAP-5");
  EXPECT_NE(finding(report, "MAP-5").cause.find("stays empty"), std::string::npos);
}

TEST(SwitchClass, TrustOfLayerTwo) {
  const Texts texts{{"roce.txt", fixture("onyx-roce/lossy.txt")}};
  EXPECT_EQ(alarms_of(judge_texts(texts, Beside::healthy_host)), "MAP-1 MAP-3");
  EXPECT_EQ(alarms_of(judge_texts(texts)), "") << "a plan by PCP may be meant";
}

TEST(SwitchClass, CnpsInTheLosslessPriority) {
  EXPECT_EQ(alarms_of(judge_texts({{"leaf.txt",
                                    "nv set qos mapping default-global dscp 26,48 switch-priority 3\n"
                                    "nv set qos pfc default-global switch-priority 3\n"}})),
            "MAP-7");
  EXPECT_TRUE(passed(judge_texts({{"eos.txt", fixture("switch-config/eos.txt")}}), "MAP-7"));
}

TEST(SwitchClass, WhatItAnnouncesMustBeLossless) {
  std::string text = fixture("onyx-roce/nvue.txt");
  text.replace(text.find("priority          3"), 19, "priority          5");
  EXPECT_EQ(alarms_of(judge_texts({{"roce.txt", text}})), "SW-4");
  EXPECT_TRUE(passed(judge_texts({{"roce.txt", fixture("onyx-roce/nvue.txt")}}), "SW-4"));
}

// ---- sources and loss ----

TEST(SwitchSources, CommandLineAgainstAsic) {
  const Texts texts{{"pfc.txt",
                     "Last cached time was 2026-01-01\nPort Rx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7\n"
                     "Ethernet8 0 0 0 0 0 0 0 0\n"},
                    {"asic.txt", fixture("sonic-sdk-counters/grepped.txt")}};
  const Report report = judge_texts(texts);
  EXPECT_EQ(alarms_of(report), "SW-3");
  EXPECT_NE(finding(report, "SW-3").cause.find("saved snapshot"), std::string::npos);
  const Report agree = judge_texts({{"pfc.txt", fixture("sonic-pfc-counters/both-directions.txt")},
                                    {"asic.txt", fixture("sonic-sdk-counters/two-priorities.txt")}});
  EXPECT_EQ(alarms_of(agree), "");
  EXPECT_TRUE(passed(agree, "SW-3"));
  EXPECT_NE(not_checked(judge_texts({texts[0]}), "SW-3"), "") << "one source alone";
}

TEST(SwitchSources, InterfacesThatShowNoDrop) {
  EXPECT_EQ(alarms_of(judge_texts(
                {{"if.txt", "IFACE STATE RX_OK RX_DRP TX_OK TX_DRP\nEthernet0 U 5 0 70000000 0\n"},
                 {"queues.txt", fixture("sonic-interface-counters/queues.txt")}})),
            "SW-3")
      << "0.06 % of a queue is below what ruins a job";
}

TEST(SwitchLoss, DropsOfAPortByTheirShare) {
  const Report report = judge_texts({{"if.txt", fixture("sonic-interface-counters/thousands.txt")}});
  EXPECT_EQ(alarms_of(report), "LOSS-1");
  EXPECT_EQ(finding(report, "LOSS-1").subject, "switch in if.txt Ethernet12");
  EXPECT_TRUE(passed(judge_texts({{"if.txt", fixture("sonic-interface-counters/old-head.txt")}}), "LOSS-1"));
  EXPECT_NE(
      not_checked(judge_texts({{"if.txt", fixture("sonic-interface-counters/not-available.txt")}}), "LOSS-1"),
      "");
}

TEST(SwitchLoss, WhatTheWatchdogDroppedIsNotBuffers) {
  const Report report =
      judge_texts({{"if.txt", "IFACE STATE RX_OK RX_DRP TX_OK TX_DRP\nEthernet8 U 5 0 70000 5000\n"},
                   {"pfcwd.txt",
                    "QUEUE STATUS STORM DETECTED/RESTORED TX OK/DROP RX OK/DROP\nEthernet8:3 operational 1/1 "
                    "0/5000 0/0\n"}});
  EXPECT_EQ(alarms_of(report), "SW-1");
}

// ---- thresholds ----

std::string sonic_with(const std::string& from, const std::string& to) {
  std::string text = fixture("switch-config/sonic.config_db.json");
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SwitchThresholds, EcnBeforePfc) {
  const Report good = judge_texts({{"c.json", sonic_with("\"300m\"", "\"5m\"")}});
  EXPECT_EQ(alarms_of(good), "");
  EXPECT_TRUE(passed(good, "ECN-1"));
  EXPECT_TRUE(passed(good, "PFC-3"));
  // alpha 1/128 of 33 MB is 256 kB: below Kmin.
  const Report late =
      judge_texts({{"c.json", sonic_with("\"dynamic_th\": \"0\"", "\"dynamic_th\": \"-7\"")}});
  EXPECT_NE(alarms_of(late).find("ECN-1"), std::string::npos);
  EXPECT_NE(finding(late, "ECN-1").cause.find("paused before it is ever marked"), std::string::npos);
  const Report fixed =
      judge_texts({{"c.json", sonic_with("\"dynamic_th\": \"0\"", "\"static_th\": \"500000\"")}});
  EXPECT_NE(alarms_of(fixed).find("ECN-1"), std::string::npos);
  const Report off = judge_texts({{"c.json", sonic_with(", \"wred_profile\": \"AZURE_LOSSLESS\"", "")}});
  EXPECT_NE(finding(off, "ECN-1").cause.find("does not mark"), std::string::npos);
  const Report upside_down = judge_texts({{"c.json", sonic_with("\"1048576\"", "\"4048576\"")}});
  EXPECT_NE(finding(upside_down, "ECN-1").cause.find("above Kmax"), std::string::npos);
}

TEST(SwitchThresholds, HeadroomOfALongCable) {
  const Report report = judge_texts({{"c.json", fixture("switch-config/sonic.config_db.json")}});
  EXPECT_EQ(alarms_of(report), "PFC-3");
  EXPECT_EQ(finding(report, "PFC-3").subject, "leaf1 Ethernet4") << "300 m, and the profile of 5 m";
}

TEST(SwitchThresholds, MtuOfAHop) {
  const Texts texts{{"run.txt", "interface Ethernet1\n   mtu 1500\n   priority-flow-control on\n"}};
  EXPECT_NE(alarms_of(judge_texts(texts, Beside::healthy_host)).find("PATH-1"), std::string::npos);
  EXPECT_TRUE(passed(judge_texts({{"run.txt", "interface Ethernet1\n   mtu 9214\n"}}, Beside::healthy_host),
                     "PATH-1"));
  EXPECT_EQ(finding(judge_texts(texts), "PATH-1").rule, "") << "whose packets?";
}

TEST(SwitchThresholds, SharesOfTheLosslessQueue) {
  const std::string begin =
      "nv set qos pfc default-global switch-priority 3\n"
      "nv set qos egress-scheduler default-global traffic-class 3 bw-percent ";
  const std::string other = "nv set qos egress-scheduler default-global traffic-class 0 bw-percent 50\n";
  EXPECT_TRUE(passed(judge_texts({{"a", begin + "50\n" + other}}), "ETS-1"));
  EXPECT_EQ(alarms_of(judge_texts({{"a", begin + "80\n" + other}})), "ETS-1") << "130 % together";
  EXPECT_EQ(alarms_of(judge_texts({{"a", begin + "0\n" + other}})), "ETS-1");
  const Report small = judge_texts({{"a", begin + "20\n" + other}});
  EXPECT_EQ(alarms_of(small), "");
  EXPECT_EQ(finding(small, "ETS-1").severity, Severity::info);
}

}  // namespace
}  // namespace rocetune::diagnose
