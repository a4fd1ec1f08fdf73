// What a tuning run ends with: the verdict first, then everything it rests on. Plain data; outcome_json.h
// writes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/observation.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/search/space.h"

namespace rocetune::search {

enum class Verdict {
  change,       // the best candidate is better than what is there, beyond doubt and worth it
  no_change,    // nothing better was shown; the plant is as right as this budget can tell
  refused,      // nothing was measured: the baseline cannot be, or there is nothing to turn
  interrupted,  // stopped before it could decide
};

struct Interval {
  double low = 0;
  double mid = 0;
  double high = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("low", self.low...);
    visit("mid", self.mid...);
    visit("high", self.high...);
  }
};

// Why a candidate was tried.
enum class Phase {
  baseline,  // A/A: the plant as it is, to learn its noise
  remedy,    // doctor's fixes, alone and together
  foretold,  // a guide expects most of it
  preset,    // published sets and modes
  explore,   // spread over the space
  model,     // what the model of all trials so far expects most of
  pattern,   // one or two knobs of the best so far, a step further
  race,      // repeats among the best
  ablate,    // the best with one change taken back, or one change alone
  confirm,   // best and baseline in turns under circumstances neither was chosen by
};

// One candidate, run over the workloads of its phase once.
struct Trial {
  int number = 0;  // from 1
  Phase phase = Phase::baseline;
  std::string why;  // in words: "fix of ECN-2", "dcqcn.ai up, dcqcn.hai down"
  Candidate candidate;
  std::uint64_t repeat = 0;
  // By place in the plant's list; absent: not run (held out, or given up on after another one).
  std::vector<std::optional<Observation>> observations;
  // Natural logarithm of the weighted gain over the baseline, less what the candidate costs workloads that
  // are held out (PlantTraits::watches_held_out); none if a run failed or breached.
  std::optional<double> score;
};

// How much of a difference is chance.
struct Noise {
  int repeats = 0;   // A/A trials
  double sd = 0;     // of a trial's score, same unit
  Interval percent;  // spread of the baseline's own score around its mean, at the policy's confidence
};

// What one change of the best candidate is worth.
struct Attribution {
  std::vector<Setting> settings;    // one knob, or the knobs of one suggestion
  std::string suggestion;           // its id; empty: the search's own
  std::optional<Interval> alone;    // gain of this change alone over the baseline, percent
  std::optional<Interval> without;  // loss when it alone is taken back from the best, percent
  enum class Effect {
    cure,          // alone it brings the gain, or most of it
    part,          // it adds its share, with or without the others
    together,      // alone it does (almost) nothing; the best needs it
    none,          // neither alone nor taken back does it show beyond noise
    not_measured,  // the budget did not reach
  } effect = Effect::not_measured;
};

struct WorkloadResult {
  std::size_t workload = 0;
  // Over the trials of phase confirm (of baseline where nothing was confirmed): medians.
  Objectives baseline;
  std::optional<Objectives> best;
  std::optional<Interval> gain_percent;
};

struct FrontPoint {
  Candidate candidate;
  int trial = 0;
  Objectives means;  // over workloads and repeats
};

// Never tried, and why.
struct NotTried {
  std::string what;  // a knob, a suggestion, a constraint's rule
  std::string why;
  int times = 1;  // candidates refused by the constraint
};

// What a guide (guide.h) expected of a candidate, and what came of it.
struct Foretold {
  Candidate candidate;
  int trial = 0;                   // the first of it
  double expected = 0;             // score
  std::optional<double> measured;  // score, mean of its trials; none: it did not run
};
struct Guidance {
  std::vector<Foretold> foretold;  // as far as it was tried, in its order
  double tolerance = 0;            // score; what is closer to 0 is chance, or not worth it
  double loss_weight = 1;          // so many times as far off is a loss by chance (Policy::loss_weight)
  bool is_followed = false;        // it held, and the search ended with it
};

struct Outcome {
  Verdict verdict = Verdict::interrupted;
  std::string reason;       // one sentence: why this verdict
  std::string stop_reason;  // why the search ended: budget, nothing more to be had, interrupted
  int budget_trials = 0;    // 0: none was given
  Noise noise;
  Candidate start;
  Candidate best;  // the start unless the verdict is change
  // Of the best over the baseline; absent where it cannot be said (the baseline does not run).
  std::optional<Interval> gain_percent;
  std::optional<Interval> held_out_gain_percent;
  std::vector<WorkloadResult> workloads;
  std::vector<Attribution> attribution;
  std::vector<FrontPoint> front;  // no one is better in all objectives
  std::vector<NotTried> not_tried;
  std::optional<Guidance> guidance;  // where there was a guide
  std::vector<Trial> trials;
  // Whether the plant is as it was. If not, `restore_error` says what was tried.
  bool restored = false;
  std::string restore_error;
  std::optional<std::string> plant_error;  // what ended the run, if the plant did
};

}  // namespace rocetune::search

namespace rocetune {
ROCETUNE_ENUM(search::Verdict, P{E::change, "change"}, P{E::no_change, "no_change"}, P{E::refused, "refused"},
              P{E::interrupted, "interrupted"});
ROCETUNE_ENUM(search::Phase, P{E::baseline, "baseline"}, P{E::remedy, "remedy"}, P{E::foretold, "foretold"},
              P{E::preset, "preset"}, P{E::explore, "explore"}, P{E::model, "model"},
              P{E::pattern, "pattern"}, P{E::race, "race"}, P{E::ablate, "ablate"}, P{E::confirm, "confirm"});
ROCETUNE_ENUM(search::Attribution::Effect, P{E::cure, "cure"}, P{E::part, "part"}, P{E::together, "together"},
              P{E::none, "none"}, P{E::not_measured, "not_measured"});
}  // namespace rocetune
