#include "agent/tune/twin/twin_guide.h"

#include <cmath>

#include "tests/agent/tune/twin/hidden_hosts.h"

namespace rocetune::twin {
namespace {

using search::Objective;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

const search::Policy& policy() {
  static const search::Policy kPolicy = *search::load_policy(ConfigFiles());
  return kPolicy;
}
GuideOptions quick() { return {.budget = 40, .seed = 1, .threads = 2, .fit_points = 160}; }

// |ln| of what the twin shows over what was observed.
double off(const TwinReport& report, std::string_view quantity, bool is_fitted) {
  for (const Observed& one : report.observed) {
    if (one.quantity != quantity) continue;
    const auto& shown = is_fitted ? one.fitted : one.before;
    return shown ? std::abs(std::log((*shown + 1e-4) / (one.observed + 1e-4))) : 99;
  }
  return 99;
}

TEST(TwinGuide, IsFittedToWhatTheHostsShow) {
  const auto hosts = space_of(two_machines());
  HiddenHosts hidden(hosts, Star{.kmin = "20kB", .kmax = "80kB"}.text(), {Objective::goodput});
  const Twin twin = twin_of(hosts, Star{.kmin = "400kB", .kmax = "1600kB"}.text());
  TwinGuide guide(twin, policy(), quick());
  (void)guide.propose(baseline_of(hidden), {});
  const TwinReport& report = guide.report();
  EXPECT_EQ(report.failure, "");
  EXPECT_LT(report.misfit, report.misfit_before / 3);
  EXPECT_LT(off(report, "ce_ratio", true), 0.3);
  EXPECT_GT(off(report, "ce_ratio", false), off(report, "ce_ratio", true));
  const Parameter* kmin = parameter_of(report, "switches.kmin");
  ASSERT_NE(kmin, nullptr);
  EXPECT_EQ(kmin->from, 400'000);
  EXPECT_LE(kmin->low, 20'000) << "what is hidden is among what explains it";
  EXPECT_GE(kmin->high, 20'000);
  // No latency was measured: cables cannot be told.
  EXPECT_EQ(parameter_of(report, "topology.delay"), nullptr);
  EXPECT_THAT(report.not_fitted, Contains(Field(&Note::what, "topology.delay")));
}

TEST(TwinGuide, FindsTheCableFromTheLatency) {
  const auto hosts = space_of(two_machines());
  const std::string ping = "[[flows]]\npattern = \"pair\"\nfrom = 1\nto = 0\nbytes = \"4kB\"\n";
  HiddenHosts hidden(hosts, Star{.delay = "3us", .traffic = ping}.text(), {Objective::latency}, true);
  const Twin twin = twin_of(hosts, Star{.delay = "1us", .traffic = ping}.text());
  TwinGuide guide(twin, policy(), quick());
  (void)guide.propose(baseline_of(hidden), {});
  const Parameter* delay = parameter_of(guide.report(), "topology.delay");
  ASSERT_NE(delay, nullptr);
  EXPECT_NEAR(delay->fitted, 3, 0.6);
  EXPECT_TRUE(delay->is_told);
  EXPECT_THAT(guide.report().not_fitted, Contains(Field(&Note::what, "switches.kmin")))
      << "nobody counted marks";
}

TEST(TwinGuide, FindsTheLoadFromTheRate) {
  const auto hosts = space_of(two_machines());
  const auto poisson = [](const std::string& load) {
    return "[[flows]]\npattern = \"poisson\"\nload = \"" + load +
           "\"\nuntil = \"1500us\"\nbytes = \"20kB\"\n";
  };
  HiddenHosts hidden(hosts, Star{.traffic = poisson("40%")}.text(), {Objective::goodput});
  const Twin twin = twin_of(hosts, Star{.traffic = poisson("20%")}.text());
  TwinGuide guide(twin, policy(), quick());
  (void)guide.propose(baseline_of(hidden), {});
  const Parameter* load = parameter_of(guide.report(), "flows.load");
  ASSERT_NE(load, nullptr);
  EXPECT_NEAR(load->fitted, 2, 0.4);
  EXPECT_TRUE(load->is_told);
}

TEST(TwinGuide, FindsXoffFromThePauses) {
  const auto hosts = space_of(two_machines());
  const std::string xon = "alpha_exponent = 0";
  std::string tight = Star{.kmin = "3MB", .kmax = "3900kB"}.text();
  tight.replace(tight.find(xon), xon.size(), "alpha_exponent = -5");
  HiddenHosts hidden(hosts, tight, {Objective::goodput});
  const Twin twin = twin_of(hosts, Star{.kmin = "3MB", .kmax = "3900kB"}.text());
  TwinGuide guide(twin, policy(), quick());
  (void)guide.propose(baseline_of(hidden), {});
  const Parameter* alpha = parameter_of(guide.report(), "switches.alpha_exponent");
  ASSERT_NE(alpha, nullptr);
  EXPECT_EQ(alpha->from, 0);
  EXPECT_LE(alpha->low, -5);
  EXPECT_LE(alpha->fitted, -3);
  EXPECT_LT(off(guide.report(), "pause_received", true), off(guide.report(), "pause_received", false));
}

TEST(TwinGuide, IsNotFittedToWhatIsMeasuredOtherwise) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star().text());
  HiddenHosts hidden(hosts, Star().text(), {Objective::goodput, Objective::latency});
  auto trials = baseline_of(hidden);
  for (search::Trial& trial : trials) trial.observations[0]->objectives[Objective::latency] = 2;
  TwinGuide guide(twin, policy(), quick());
  (void)guide.propose(trials, {});
  for (const Observed& one : guide.report().observed) {
    if (one.quantity == "latency") {
      EXPECT_THAT(one.why_not_fitted, HasSubstr("something else"));
    }
  }
  EXPECT_EQ(parameter_of(guide.report(), "topology.delay"), nullptr);
}

TEST(TwinGuide, ProposesWhatGainsAndForetellsIt) {
  const auto hosts = space_of(two_machines(), {{"NCCL_ALGO", {"Ring", "Tree"}}});
  HiddenHosts hidden(hosts, Star{.kmin = "60kB", .kmax = "240kB"}.text(), {Objective::goodput});
  const Twin twin = twin_of(hosts, Star().text());
  TwinGuide guide(twin, policy(), quick());
  const auto trials = baseline_of(hidden);
  const auto proposals = guide.propose(trials, {});
  ASSERT_FALSE(proposals.empty());
  EXPECT_LE(proposals.size(), 4U);
  const auto expected = guide.expected(proposals.front().candidate);
  ASSERT_TRUE(expected);
  EXPECT_GT(*expected, 0.1);
  const auto was = trials[0].observations[0]->objectives[Objective::goodput];
  const auto is = hidden.observe({proposals.front().candidate, 0, 7, false}, {});
  ASSERT_TRUE(is);
  EXPECT_NEAR(std::log(*is->objectives[Objective::goodput] / *was), *expected, 0.2);
  // What it has no counterpart for it does not foretell.
  const auto tree = hosts.space().setting("workload.NCCL_ALGO", "Tree");
  EXPECT_FALSE(guide.expected(hosts.space().with(proposals.front().candidate, {*tree})));
  EXPECT_FALSE(guide.knows(tree->knob));

  TwinGuide again(twin, policy(), quick());
  const auto same = again.propose(trials, {});
  ASSERT_EQ(same.size(), proposals.size());
  for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(same[i].candidate, proposals[i].candidate);
  EXPECT_EQ(again.identity(), guide.identity());
}

TEST(TwinGuide, SaysWhyItHasNothingToSay) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star().text());
  TwinGuide guide(twin, policy(), quick());
  EXPECT_TRUE(guide.propose({}, {}).empty());
  EXPECT_THAT(guide.report().failure, HasSubstr("measured nothing"));
  EXPECT_FALSE(guide.expected(hosts.space().start()));
}

search::Outcome tuned(HiddenHosts& hidden, search::Guide* guide) {
  return search::tune(hidden, policy(), {.budget = {.trials = 60}, .seed = 1, .guide = guide}, {}, {});
}

TEST(TwinGuide, SparesTheHostsTrials) {
  const auto hosts = space_of(two_machines());
  const std::string fabric = Star{.kmin = "60kB", .kmax = "240kB"}.text();
  HiddenHosts hidden(hosts, fabric, {Objective::goodput});
  const auto without = tuned(hidden, nullptr);
  const Twin twin = twin_of(hosts, Star().text());
  TwinGuide guide(twin, policy(), {.budget = 80, .seed = 1, .threads = 2});
  const auto with = tuned(hidden, &guide);
  ASSERT_EQ(without.verdict, search::Verdict::change) << without.reason;
  ASSERT_EQ(with.verdict, search::Verdict::change) << with.reason;
  ASSERT_TRUE(with.guidance);
  EXPECT_TRUE(with.guidance->is_followed);
  EXPECT_TRUE(foresight_of(with).holds()) << foresight_of(with).says;
  EXPECT_LT(with.trials.size() * 3, without.trials.size() * 2);
  EXPECT_EQ(spared_trials(with), 60 - static_cast<int>(with.trials.size()));
  EXPECT_GT(with.gain_percent->mid, without.gain_percent->mid * 0.7);
}

TEST(TwinGuide, AWrongTwinDoesNotMakeTheAnswerWrong) {
  const auto hosts = space_of(two_machines());
  HiddenHosts hidden(hosts, Star{.kmin = "60kB", .kmax = "240kB"}.text(), {Objective::goodput});
  // Another rate, another topology, other traffic: short flows with nobody beside them, for which no reaction
  // point matters.
  const Twin twin =
      twin_of(hosts, Star{.rate = "10Gbps",
                          .traffic = "[[flows]]\npattern = \"pair\"\nfrom = 1\nto = 0\nbytes = \"1500kB\"\n"}
                         .text());
  TwinGuide guide(twin, policy(), quick());
  const auto outcome = tuned(hidden, &guide);
  ASSERT_TRUE(outcome.guidance);
  EXPECT_EQ(outcome.verdict, search::Verdict::change) << outcome.reason;
  EXPECT_GT(outcome.gain_percent->low, 3);
  if (!outcome.guidance->is_followed) {
    EXPECT_EQ(spared_trials(outcome), std::nullopt);
  }
}

}  // namespace
}  // namespace rocetune::twin
