#include "agent/report/tune_page.h"

#include <gmock/gmock.h>

#include "agent/report/tune_words.h"
#include "tests/dataplane/html/well_formed.h"

namespace rocetune::report {
namespace {

using html::markup_problem;
using search::Objective;
using search::Phase;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFromOutside = "<img src=x onerror='alert(1)'>&\"";

// Never run: a page is made of what was seen.
class PaperPlant final : public search::Plant {
 public:
  explicit PaperPlant(const std::string& said = "") {
    traits_ = {.name = "fabric leaf" + said, .identity = "1", .is_repeatable = true};
    search::Knob kmin{.name = "switches.kmin" + said, .meaning = "from where switches mark" + said};
    kmin.min = 1000, kmin.max = 900'000, kmin.step = 1000, kmin.unit = "bytes" + said;
    kmin.start = 800'000, kmin.start_origin = "leaf.toml" + said;
    search::Knob map{.name = "switch2.map" + said, .meaning = "where DSCPs lead" + said};
    map.kind = search::KnobKind::categorical;
    map.choices = {"as found" + said, "as the others" + said};
    map.cost = search::ChangeCost::bounces_link;
    auto space = search::Space::of({kmin, map});
    EXPECT_TRUE(space);
    if (space) space_ = *space;
    workloads_ = {{.name = "default" + said}, {.name = "mix" + said, .held_out = true}};
    constraints_ = {
        {.id = "ecn", .rule = "Kmin < Xoff" + said, .origin = "paper" + said, .knobs = {0}, .broken = {}}};
  }
  const search::PlantTraits& traits() const override { return traits_; }
  const search::Space& space() const override { return space_; }
  const std::vector<search::Constraint>& constraints() const override { return constraints_; }
  const std::vector<search::Workload>& workloads() const override { return workloads_; }
  const std::vector<search::Suggestion>& suggestions() const override { return suggestions_; }
  Expected<search::Observation> observe(const search::Request&, std::stop_token) override {
    return fail(ErrorKind::conflict, "not a plant that runs");
  }
  Expected<> restore() override { return {}; }

 private:
  search::PlantTraits traits_;
  search::Space space_;
  std::vector<search::Constraint> constraints_;
  std::vector<search::Workload> workloads_;
  std::vector<search::Suggestion> suggestions_;
};

search::Observation seen(double goodput, double p99, const std::string& said = "", bool with_series = false) {
  search::Observation out;
  out.objectives[Objective::goodput] = goodput;
  out.objectives[Objective::p99_fct] = p99;
  if (with_series) {
    out.series = {{"throughput" + said, "Gb/s", {10, 20, 30}, {goodput, goodput, goodput / 2}},
                  {"pause frames" + said, "frames", {10, 20, 30}, {0, 0, 0}}};
  }
  return out;
}

search::Trial trial(int number, Phase phase, search::Candidate candidate, double goodput,
                    std::optional<double> score, const std::string& said = "") {
  const bool is_compared = phase == Phase::confirm;
  return {.number = number,
          .phase = phase,
          .why = "why" + said,
          .candidate = std::move(candidate),
          .repeat = is_compared ? 7u : 0u,
          .observations = {seen(goodput, 1e5 / goodput, said, is_compared), seen(90, 50, said, is_compared)},
          .score = score};
}

struct Story {
  PaperPlant plant;
  search::Outcome outcome;
  search::Policy policy{.weights = {1, 1, 0.5, 0.4, 0.2, 0.2},
                        .worst_share = 0.3,
                        .minimum_gain_percent = 3,
                        .confidence_percent = 95};
  std::string said;

  explicit Story(std::string from_outside = "") : plant(from_outside), said(std::move(from_outside)) {
    search::Outcome& o = outcome;
    o.verdict = search::Verdict::change;
    o.reason = "it is better" + said;
    o.stop_reason = "nothing more to be had" + said;
    o.budget_trials = 60;
    o.noise = {.repeats = 3, .sd = 0.01, .percent = {-1.5, 0, 1.25}};
    o.start = plant.space().start();
    o.best = {{200'000, 1}};
    o.gain_percent = search::Interval{80, 85.04, 90};
    o.held_out_gain_percent = search::Interval{-0.5, 0.25, 1};
    o.restored = true;
    search::Objectives before = seen(40, 2500).objectives, after = seen(80, 1250).objectives;
    o.workloads = {
        {.workload = 0, .baseline = before, .best = after, .gain_percent = search::Interval{80, 85, 90}},
        {.workload = 1, .baseline = after, .best = after}};
    o.attribution = {{.settings = {{0, 200'000}},
                      .suggestion = "ECN-1" + said,
                      .alone = search::Interval{10, 20, 30},
                      .without = std::nullopt,
                      .effect = search::Attribution::Effect::part},
                     {.settings = {{1, 1}},
                      .suggestion = "MAP-5" + said,
                      .alone = search::Interval{-1, 0, 1},
                      .without = search::Interval{30, 40, 50},
                      .effect = search::Attribution::Effect::together}};
    o.front = {{.candidate = o.best, .trial = 2, .means = after}, {.candidate = {{300'000, 1}}, .trial = 3}};
    o.front[1].means = seen(82, 1400).objectives;
    o.not_tried = {{.what = "hosts.mtu" + said, .why = "the budget did not reach" + said, .times = 4}};
    o.trials = {trial(1, Phase::baseline, o.start, 40, 0.0, said),
                trial(2, Phase::remedy, o.best, 80, 0.6, said),
                trial(3, Phase::model, {{300'000, 1}}, 82, 0.5, said),
                trial(4, Phase::model, {{900'000, 0}}, 9, std::nullopt, said),
                trial(5, Phase::confirm, o.start, 41, 0.01, said),
                trial(6, Phase::confirm, o.best, 79, 0.6, said)};
    search::Observation& broken = *o.trials[3].observations[0];
    broken.breaches = {{"deadlock" + said, "closed by 40 us" + said}};
    broken.confounders = {"somebody else ran" + said};
    o.trials[3].observations[1]->failure = search::Failure{search::FailureKind::hung, "no end" + said};
  }

  std::string page() const {
    TunePage page{.command = "rocetune tune --fabric leaf" + said,
                  .description = "four leaves" + said,
                  .plant = plant,
                  .outcome = outcome,
                  .policy = policy};
    if (outcome.verdict == search::Verdict::change) {
      page.plan = {{.knob = "switches.kmin" + said,
                    .where = "all switches" + said,
                    .before = "800000 bytes" + said,
                    .after = "200000 bytes" + said,
                    .how = "WRED green_min_threshold 200000" + said,
                    .undo = "WRED green_min_threshold 800000" + said},
                   {.knob = "switch2.map" + said,
                    .where = "switch2" + said,
                    .before = "26=0" + said,
                    .after = "26=3" + said,
                    .cost = search::ChangeCost::bounces_link,
                    .how = "DSCP_TO_TC_MAP 26=3" + said,
                    .undo = "DSCP_TO_TC_MAP 26=0" + said}};
      page.makers = {"SONiC" + said, "EOS" + said};
      page.emitted = {
          {"all switches" + said, "switches.kmin" + said, "200000" + said, {"ecnconfig" + said, ""}}};
    }
    if (outcome.verdict == search::Verdict::change) {
      const std::string by_hand = "switches.alpha_exponent at all switches: 0" + said;
      page.switch_lines = {
          {"EOS" + said, "all switches" + said, "qos profile" + said, {"paste it" + said}, {by_hand}},
          {"Junos" + said, "", "", {}, {by_hand}}};
    }
    page.worsened = {{"mix" + said, search::Objective::busbw, -12.56}};
    page.left_out = {{"switches.watchdog" + said, "too short a run" + said}};
    page.findings = {
        {"critical", "MAP-5" + said, "switch2" + said, "the map is wrong" + said, "26=3" + said, false},
        {"warning", "PFC-6" + said, "h9" + said, "slow receiver" + said, "take it out" + said, true}};
    return tune_page(page);
  }
};

TEST(TunePage, BeginsWithWhatToDoAndWhatItBrings) {
  const std::string page = Story().page();
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(
      page,
      HasSubstr("<div class='verdict good'><b class='sign'>✓</b><div><b>Change 2 settings: +85.0\u00a0%.</b> "
                "It lies between +80.0 and +90.0\u00a0%, confirmed"));
  EXPECT_THAT(page, HasSubstr("<li>all switches: <b>switches.kmin</b> from 800\u202f000 bytes to "
                              "<b>200\u202f000 bytes</b><br/><small>"
                              "from where switches mark</small></li>"));
  EXPECT_THAT(page, HasSubstr("<li>default: data delivered 40\u00a0Gb/s → <b>80\u00a0Gb/s</b></li>"));
  EXPECT_THAT(
      page, HasSubstr("<dt>What it costs</dt><dd>links go down for a moment (1 of 2 settings disturb)</dd>"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "<dt>What gets worse</dt><dd><ul><li>mix: bandwidth of collectives -12.6\u00a0%</li></ul></dd>"));
  EXPECT_THAT(page, HasSubstr("This run itself has left nothing changed."));
  EXPECT_THAT(page, HasSubstr("<b>Needs hands: h9.</b> slow receiver <small>No setting repairs it"));
  EXPECT_LT(page.find("Change 2 settings"), page.find("<h2>"));
}

TEST(TunePage, ComparesOverTheSameTime) {
  const std::string page = Story().page();
  EXPECT_THAT(page, HasSubstr("as found (trial 5) and with the changes (trial 6)"));
  EXPECT_THAT(page, HasSubstr("</i> as found</span>"));
  EXPECT_THAT(page, HasSubstr("throughput over time, at most 79\u00a0Gb/s"));
  EXPECT_THAT(page, HasSubstr("None at any time: pause frames."));
}

TEST(TunePage, LongNumbersAreInGroupsAndNamesAreNot) {
  EXPECT_EQ(value_markup("1000 to 1048000 bytes"), "1000 to 1\u202f048\u202f000 bytes");
  EXPECT_EQ(value_markup("as found: 26=3, h10000, 1.00000, <µs>"),
            "as found: 26=3, h10000, 1.00000, &lt;µs&gt;");
  EXPECT_EQ(lines_markup("a <b>\n\n  c"), "a &lt;b&gt;\n\n  c\n");
}

TEST(TunePage, ACurveHasGapsWhereNothingWasMeasured) {
  Story story;
  story.outcome.trials[4].observations[0]->series.push_back(
      {.name = "p99 packet delay", .unit = "us", .at_us = {10, 30}, .values = {5, 7}, .step_us = 10});
  EXPECT_THAT(story.page(), HasSubstr("data-v='5\u00a0µs|–|7\u00a0µs'"));
}

TEST(TunePage, HasLinesForSwitchesAndWhatIsNotInThem) {
  const std::string page = Story().page();
  EXPECT_THAT(page,
              HasSubstr("<summary>EOS: all switches, not all of it</summary>\n<pre>qos profile\n</pre>\n"
                        "<ul><li>paste it</li></ul>"));
  EXPECT_THAT(page, HasSubstr("<li>switches.alpha_exponent at all switches: 0</li>"));
  EXPECT_THAT(page, HasSubstr("<summary>Junos: nothing of it</summary>"));
}

TEST(TunePage, SaysWhatEachChangeIsWorth) {
  const std::string page = Story().page();
  EXPECT_THAT(page, HasSubstr("switches.kmin<small>ECN-1</small>"));
  EXPECT_THAT(
      page,
      HasSubstr("<td>+20.0\u00a0% (+10.0 to +30.0\u00a0%)</td><td>–</td><td class='l'>adds its share</td>"));
  EXPECT_THAT(page, HasSubstr("only together with the others"));
}

TEST(TunePage, ShowsEveryTrialWithWhatWentWrong) {
  const std::string page = Story().page();
  EXPECT_THAT(page, HasSubstr("All 6 trials, one by one"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "default: deadlock: closed by 40 us; mix: hung: no end<br/><small>somebody else ran</small>"));
  EXPECT_THAT(page, HasSubstr("1 without a result are not shown"));
  EXPECT_THAT(page, HasSubstr("3 runs as found, unchanged, differed by -1.5\u00a0% to +1.2\u00a0%"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "<td class='l wrap'>hosts.mtu</td><td class='l wrap'>the budget did not reach</td><td>4</td>"));
  EXPECT_THAT(
      page,
      HasSubstr("<td class='l wrap'>switches.watchdog</td><td class='l wrap'>too short a run</td><td></td>"));
  EXPECT_THAT(page, HasSubstr("<title>first in trial 3</title>"));
}

TEST(TunePage, HasThePlanItsUndoingAndTheCommand) {
  const std::string page = Story().page();
  EXPECT_THAT(
      page,
      HasSubstr(
          "<pre>1. all switches: WRED green_min_threshold 200000\n2. switch2: DSCP_TO_TC_MAP 26=3\n</pre>"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "<pre>2. switch2: DSCP_TO_TC_MAP 26=0\n1. all switches: WRED green_min_threshold 800000\n</pre>"));
  EXPECT_THAT(page, HasSubstr("<td class='l wrap'><code>ecnconfig</code></td><td class='l faint'>–</td>"));
  EXPECT_THAT(page, HasSubstr("<pre>rocetune tune --fabric leaf</pre>"));
}

TEST(TunePage, NoChangeIsAnAnswer) {
  Story story;
  story.outcome.verdict = search::Verdict::no_change;
  story.outcome.reason = "the best gained 0.02 %";
  story.outcome.best = story.outcome.start;
  story.outcome.attribution.clear();
  const std::string page = story.page();
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("<div class='verdict good'><b class='sign'>✓</b><div><b>Leave it as it is.</b> "
                              "The best gained 0.02 %."));
  EXPECT_THAT(page, Not(HasSubstr("What to change")));
  EXPECT_THAT(page, HasSubstr("<h2>Before and after</h2>")) << "the confirmation has both";
  for (search::WorkloadResult& result : story.outcome.workloads) result.best.reset();
  EXPECT_THAT(story.page(), HasSubstr("<h2>As found</h2>"));
  EXPECT_THAT(story.page(), Not(HasSubstr("<th>changed</th>")));
  EXPECT_THAT(page, Not(HasSubstr("<h2>The plan</h2>")));
}

TEST(TunePage, RefusedHasNothingButItsReason) {
  Story story;
  story.outcome = {.verdict = search::Verdict::refused, .reason = "the baseline does not run"};
  story.outcome.restored = false;
  story.outcome.restore_error = "h3 did not answer";
  const std::string page = story.page();
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(
      page,
      HasSubstr("<div class='verdict bad'><b class='sign'>✗</b><div><b>Nothing could be measured.</b> The "
                "baseline does not run"));
  EXPECT_THAT(page, HasSubstr("<b>Not everything is back as it was.</b> h3 did not answer"));
  EXPECT_THAT(page, Not(HasSubstr("<dt>gain</dt>")));
  EXPECT_THAT(page, Not(HasSubstr("<h2>Over time</h2>")));
}

TEST(TunePage, InterruptedTellsTheBestSoFar) {
  const Story whole;
  search::Outcome outcome = whole.outcome;
  outcome.verdict = search::Verdict::interrupted;
  outcome.plant_error = "the workload's host is gone";
  outcome.gain_percent.reset();
  TunePage page{.command = "again",
                .description = {},
                .plant = whole.plant,
                .outcome = outcome,
                .policy = whole.policy};
  page.plan = {{.knob = "switches.kmin",
                .where = "all switches",
                .before = "8",
                .after = "2",
                .how = "set 2",
                .undo = "set 8"}};
  page.so_far = search::BestSoFar{.gain_percent = 12.5, .trials = 2};
  const std::string text = tune_page(page);
  EXPECT_EQ(markup_problem(text), "");
  EXPECT_THAT(
      text,
      HasSubstr(
          "<div class='verdict warn'><b class='sign'>!</b><div><b>Stopped before it could decide.</b>"));
  EXPECT_THAT(text,
              HasSubstr("<b>Best so far, confirmed by nothing:</b> 1 setting, +12.5\u00a0% in 2 trials"));
  EXPECT_THAT(text, HasSubstr("<b>It ended early:</b> the workload&#39;s host is gone"));
  EXPECT_THAT(text, HasSubstr("set 8"));
}

TEST(TunePage, WhatComesFromOutsideIsText) {
  const std::string page = Story(kFromOutside).page();
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("onerror='")));
}

}  // namespace
}  // namespace rocetune::report
