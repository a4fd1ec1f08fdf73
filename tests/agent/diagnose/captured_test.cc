// Captures that people really have, judged without a host.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "dataplane/base/file.h"
#include "dataplane/base/json_reader.h"
#include "dataplane/tap/capture_analysis.h"
#include "tests/agent/diagnose/host_builder.h"
#include "tests/places.h"

namespace rocetune::diagnose {
namespace {

namespace fs = std::filesystem;

std::vector<Capture> captures_in(const fs::path& folder) {
  std::vector<Capture> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".pcap" && path.extension() != ".pcapng") continue;
    const auto file = tap::MappedFile::open(path.string());
    if (!file) continue;
    out.push_back({path.filename().string(), tap::analyse_capture(file->bytes(), path.string(), {}).value()});
  }
  std::ranges::sort(out, {}, &Capture::file);
  return out;
}

std::set<std::string> ids(const Report& report, Severity least) {
  std::set<std::string> out;
  for (const Finding& finding : report.findings) {
    if (finding.severity >= least) out.insert(finding.rule);
  }
  return out;
}

TEST(Captured, EveryCaseIsDiagnosedAsItShouldBe) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(source_root() + "/tests/cases")) {
    SCOPED_TRACE(entry.path().string());
    const std::string expectation = (entry.path() / "expect.json").string();
    const auto text = read_file(expectation, Bytes(1 << 20));
    if (!text) continue;
    const Json expected = parse_json(*text, expectation).value();
    Scenario s;
    s.has_host = false;
    s.captures = captures_in(entry.path());
    ASSERT_FALSE(s.captures.empty());
    const Report report = s.report();
    const Json* info_ok = json_member(expected, "info_ok");
    const bool info_counts = info_ok != nullptr && info_ok->as_bool();
    const std::set<std::string> found = ids(report, info_counts ? Severity::info : Severity::warning);
    for (const Json& group : expected.at("find").as_array()) {
      const auto hit = [&](const Json& id) { return found.contains(std::string(id.as_string())); };
      EXPECT_TRUE(std::ranges::any_of(group.as_array(), hit)) << "not found: " << group;
    }
    const std::set<std::string> alarms = ids(report, Severity::warning);
    for (const Json& id : expected.at("forbid").as_array())
      EXPECT_FALSE(alarms.contains(std::string(id.as_string()))) << "wrongly found: " << id;
    ++cases;
  }
  EXPECT_GE(cases, 8);
}

TEST(Captured, WithoutAHostEveryRuleAboutOneIsNotChecked) {
  Scenario s;
  s.has_host = false;
  s.captures = {{"empty.pcap", {}}};
  const Report report = s.report();
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.passed.empty());
  for (const Rule* rule : all_rules()) {
    if (rule->scope() == Scope::dossier) continue;  // there are no texts
    const std::string subject = rule->scope() == Scope::capture ? "empty.pcap" : "host";
    EXPECT_TRUE(std::ranges::any_of(
        report.not_checked, [&](const NotChecked& n) { return n.rule == rule->id && n.subject == subject; }))
        << rule->id << " on " << subject;
  }
  EXPECT_NE(report.first_step().find("nothing could be judged"), std::string::npos);
}

TEST(Captured, TheHostsClassIsWhatNeighboursAreComparedWith) {
  Scenario s = healthy();
  tap::TapFacts facts;
  facts.neighbours = {{.source = "02:00:00:00:00:01", .frames = 1, .dcbx = "ieee"}};
  facts.neighbours[0].pfc_enabled = PrioritySet(0x10);
  s.captures = {{"uplink.pcap", facts}};
  const auto severity = [&] {
    const Report report = s.report();
    const auto it = std::ranges::find(report.findings, "SW-4", &Finding::rule);
    return it == report.findings.end() ? std::string("none") : std::string(enum_name(it->severity));
  };
  EXPECT_EQ(severity(), "warning");  // the host's class is priority 3
  s.declared.priority = Priority(4);
  EXPECT_EQ(severity(), "none");
  s.declared.priority.reset();
  s.has_host = false;
  EXPECT_EQ(severity(), "info");  // only the usual plan's
}

}  // namespace
}  // namespace rocetune::diagnose
