#include "agent/tune/host_plant/host_space.h"

#include <algorithm>

#include "agent/diagnose/engine.h"
#include "agent/tune/planner.h"
#include "tests/agent/tune/host_plant/plant_bench.h"

namespace rocetune::tune {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kAllow{"take-dcbx",  "inexact-revert", "bounce-default-route",
                                      "bounce-ssh", "bounce-storage", "other-owner"};

HostSpaceLimits shipped_limits() { return *load_host_space_limits(ConfigFiles()); }
Expected<HostSpace> make(std::vector<FoundHost> hosts, const std::vector<std::string>& allow = kAllow,
                         const std::vector<VariedVariable>& varied = {}) {
  return HostSpace::make(std::move(hosts), varied, shipped_limits(), ConfigFiles(), guardrails(), allow);
}
HostSpace space_of(std::vector<FoundHost> hosts) {
  auto space = make(std::move(hosts));
  EXPECT_TRUE(space) << (space ? "" : space.error().text());
  return *space;
}
// Somebody has switched PFC off.
host::Host unprotected_host(const std::string& name = "") {
  host::Host out = fixture_host("mlx5", name);
  for (host::Port& port : out.ports) {
    if (port.dcb.pfc) port.dcb.pfc->enabled = PrioritySet();
  }
  return out;
}
FoundHost judged(const host::Host& host) {
  FoundHost out = found(host);
  const auto policy = diagnose::load_policy(ConfigFiles(), nic_table());
  const std::array hosts{diagnose::JudgedHost{&host}};
  out.findings = diagnose::diagnose({hosts, diagnose::Intent{}, *policy, out.ports, {}}).findings;
  return out;
}
search::Candidate with(const HostSpace& space, const std::string& knob, const std::string& value) {
  const auto setting = space.space().setting(knob, value);
  EXPECT_TRUE(setting) << (setting ? "" : setting.error().text());
  return space.space().with(space.space().start(), {*setting});
}
std::string why_left_out(const HostSpace& space, const std::string& knob) {
  for (const search::LeftOut& one : space.left_out()) {
    if (one.knob == knob) return one.why;
  }
  return "";
}

TEST(HostSpaceTest, TheStartChangesNothing) {
  const HostSpace space = space_of({found(fixture_host())});
  const auto plan = space.plan(space.space().start(), 0, 0);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->is_empty());
  EXPECT_TRUE(space.steps(space.space().start())->empty());
}

TEST(HostSpaceTest, MtuIsOfAllPortsAndItsPlanApplies) {
  const host::Host host = fixture_host();
  const HostSpace space = space_of({found(host)});
  const auto knob = space.space().find("mtu");
  ASSERT_TRUE(knob);
  EXPECT_GE(space.space()[*knob].cost, search::ChangeCost::restarts_job);
  const std::string other = space.space()[*knob].choices[space.space()[*knob].start == 0 ? 1 : 0];
  const auto plan = space.plan(with(space, "mtu", other), 0, 7);
  ASSERT_TRUE(plan) << plan.error().text();
  std::size_t changes = 0;
  for (const Step& step : plan->steps) {
    for (const Change& change : step.changes) {
      EXPECT_EQ(change.knob.kind, host::KnobKind::mtu);
      EXPECT_EQ(std::get<std::int64_t>(change.after), std::stoll(other));
      ++changes;
    }
  }
  EXPECT_EQ(changes, space.hosts()[0].ports.size());
  EXPECT_TRUE(staleness(*plan, host).empty());
  const auto read = plan_from_json(to_json_text(*plan), "plan");
  ASSERT_TRUE(read) << read.error().text();
  const auto steps = space.steps(with(space, "mtu", other));
  ASSERT_EQ(steps->size(), changes);
  EXPECT_THAT((*steps)[0].how, HasSubstr("mtu " + other));
  EXPECT_NE((*steps)[0].undo, (*steps)[0].how);
}

TEST(HostSpaceTest, PortsThatDifferLeaveTheMtuAlone) {
  host::Host other = fixture_host("mlx5", "other");
  for (host::Port& port : other.ports) port.mtu = Bytes(port.mtu.count() + 100);
  const HostSpace space = space_of({found(fixture_host()), found(other)});
  EXPECT_FALSE(space.space().find("mtu"));
  EXPECT_THAT(why_left_out(space, "mtu"), HasSubstr("ports differ"));
}

TEST(HostSpaceTest, ParametersStayWithinTheSafeFactorOfTheirDefault) {
  const HostSpace space = space_of({found(fixture_host())});
  int seen = 0;
  for (const search::Knob& knob : space.space().knobs()) {
    if (!knob.name.starts_with("cc.") || !knob.standard || *knob.standard <= 0) continue;
    ++seen;
    EXPECT_LE(*knob.safe_max, std::ceil(*knob.standard * 10)) << knob.name;
    EXPECT_GE(*knob.safe_min, std::floor(*knob.standard / 10)) << knob.name;
    EXPECT_FALSE(knob.standard_origin.empty());
  }
  EXPECT_GT(seen, 5);
}

TEST(HostSpaceTest, AlphaMustOutlastTheGapBetweenCnps) {
  const HostSpace space = space_of({found(fixture_host())});
  const auto alpha = space.space().find("cc.rp_dce_tcp_rtt"),
             gap = space.space().find("cc.np_min_time_between_cnps");
  ASSERT_TRUE(alpha && gap);
  search::Candidate bad = space.space().start();
  bad.values[*alpha] = 2;
  bad.values[*gap] = 20;
  EXPECT_TRUE(search::broken(space.constraints(), space.space(), bad));
  bad.values[*alpha] = 30;
  EXPECT_FALSE(search::broken(space.constraints(), space.space(), bad));
}

TEST(HostSpaceTest, FixesOfDoctorAreTogglesAndComeFirst) {
  const host::Host host = unprotected_host();
  const FoundHost with_findings = judged(host);
  const auto is_fix = [](const diagnose::Finding& f) {
    return !f.fix.changes.empty() && f.severity != diagnose::Severity::info;
  };
  ASSERT_TRUE(std::ranges::any_of(with_findings.findings, is_fix)) << "the fixture has something to mend";
  const HostSpace space = space_of({with_findings});
  const auto remedy =
      std::ranges::find(space.suggestions(), search::Suggestion::Kind::remedy, &search::Suggestion::kind);
  ASSERT_NE(remedy, space.suggestions().end());
  const auto candidate = space.space().with(space.space().start(), remedy->settings);
  const auto plan = space.plan(candidate, 0, 0);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_FALSE(plan->is_empty());
  for (const Step& step : plan->steps) {
    for (const Change& change : step.changes) EXPECT_TRUE(remedy->id.starts_with(change.rule)) << change.rule;
  }
}

TEST(HostSpaceTest, TheSameFixOfTwoHostsIsOne) {
  const FoundHost one = judged(unprotected_host("h1")), two = judged(unprotected_host("h2"));
  EXPECT_EQ(space_of({one, two}).suggestions().size(), space_of({one}).suggestions().size());
}

TEST(HostSpaceTest, AClassMapAsAWholeReplacesSingleFixes) {
  const HostSpace space = space_of({judged(unprotected_host())});
  const auto profile = space.space().find("class.profile");
  ASSERT_TRUE(profile);
  search::Candidate candidate = space.space().with(space.space().start(), {{*profile, 1.0}});
  for (std::size_t k = 0; k < space.space().size(); ++k) {
    if (!space.space()[k].name.starts_with("fix.")) continue;
    EXPECT_FALSE(space.space().is_alive(k, candidate));
  }
  const auto plan = space.plan(candidate, 0, 0);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_FALSE(plan->is_empty());
}

TEST(HostSpaceTest, WhatAGuardrailWouldRefuseIsLeftOutWithTheConsentThatItNeeds) {
  const auto space = make({judged(unprotected_host())}, {});
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_TRUE(std::ranges::any_of(space->left_out(), [](const search::LeftOut& one) {
    return one.why.find("--allow ") != std::string::npos;
  }));
}

TEST(HostSpaceTest, VariablesReachTheWorkloadAlone) {
  const auto varied = parse_varied("NCCL_IB_QPS_PER_CONNECTION=1,4");
  ASSERT_TRUE(varied);
  const auto space = make({found(fixture_host())}, kAllow, {*varied});
  ASSERT_TRUE(space);
  const auto candidate = with(*space, "workload.NCCL_IB_QPS_PER_CONNECTION", "4");
  EXPECT_TRUE(space->plan(candidate, 0, 0)->is_empty());
  EXPECT_EQ(space->environment(candidate).at(0),
            (std::pair<std::string, std::string>{"NCCL_IB_QPS_PER_CONNECTION", "4"}));
  EXPECT_EQ(space->steps(candidate)->at(0).where, "workload");
}

TEST(VariedVariableTest, BadOnesSayWhatIsAllowed) {
  for (const char* text : {"", "A", "A=", "A=1", "A=1,1", "1A=1,2", "A B=1,2", "=1,2"}) {
    const auto parsed = parse_varied(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().allowed, HasSubstr("NAME=VALUE,VALUE"));
  }
}

}  // namespace
}  // namespace rocetune::tune
