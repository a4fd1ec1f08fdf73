// A tuning run in progress: asks the plant, keeps the trials and their scores, and knows when it is over.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/tune/search/score.h"
#include "agent/tune/search/tuner.h"
#include "dataplane/base/random.h"

namespace rocetune::search {

// What is known of a candidate from all its trials.
struct Standing {
  int spoiled = 0;               // runs without a score: failed or breached
  std::vector<double> scores;    // of the others, without what their repeats do to all
  std::map<int, double> latest;  // of them, by repeat
  double charge = 0;             // taken from each score for what held-out workloads lose
  double held_out = 0;           // gain of the worst held-out workload, as far as it was run
  int runs() const { return static_cast<int>(scores.size()); }
  bool is_good() const { return !scores.empty() && spoiled == 0; }
  double mean() const;  // of a good one
  double sd() const;
};

class Session {
 public:
  Session(Plant& plant, const Policy& policy, const TuneOptions& options, const OnTrial& on_trial,
          std::stop_token stop);

  struct Question {
    Phase phase = Phase::model;
    std::string why;
    Candidate candidate;
    int repeat = 0;         // 0, 1, 2 …: the searched circumstances; kFresh on: the confirmed ones
    bool held_out = false;  // these workloads too
    bool with_series = false;
  };
  static constexpr int kFresh = 1000;
  // One trial. Null: the run is over (budget, stop, the plant). Asserts what the plant is promised: safe, and
  // no constraint broken.
  const Trial* run(const Question& question);

  // The trial in which this candidate ran under this repeat, held-out workloads included, if the plant is
  // repeatable; null: there is none, or another one may show something else.
  const Trial* known(const Question& question) const;

  // Whether a candidate may be tried; counts what a constraint refuses, once for each candidate.
  bool is_allowed(const Candidate& candidate);

  // Trials left of the budget, given the time a trial takes; keeps none back.
  int left() const;
  int total() const;  // trials of the whole budget, as far as it can be told
  bool is_stopped() const { return stop_.stop_requested() || plant_error_.has_value(); }
  bool is_over() const { return is_stopped() || left() <= 0; }
  const std::optional<std::string>& plant_error() const { return plant_error_; }

  // None: never tried.
  std::optional<Standing> standing(const Candidate& candidate) const;
  const std::map<Candidate, Standing>& standings() const { return standings_; }
  // The best so far: the start until a challenger has won.
  const Candidate& best() const { return best_; }
  double best_score() const;
  void crown(const Candidate& candidate) { best_ = candidate; }

  const std::deque<Trial>& trials() const { return trials_; }
  Scorer& scorer() { return scorer_; }
  const Scorer& scorer() const { return scorer_; }
  // What gets worse counts once: for what is held out.
  const Scorer& plain_scorer() const { return plain_scorer_; }
  Plant& plant() { return plant_; }
  const Plant& plant() const { return plant_; }
  const Space& space() const { return plant_.space(); }
  const Policy& policy() const { return policy_; }
  Random& random() { return random_; }
  double confidence() const { return policy_.confidence_percent / 100; }
  double least_gain() const;                              // minimum_gain_percent as a score
  double negligible() const { return least_gain() / 4; }  // beside it: a loss, or noise

  // Standard deviation of one trial's score by chance: of repeated candidates around their means, pooled; of
  // the A/A trials (which the caller sets) as long as few are. A baseline that suffers from a fault is often
  // far noisier than what cures it.
  double noise_sd() const;
  double baseline_sd() const { return std::sqrt(baseline_variance_); }
  // Whether a repeat does to candidates what it does to the baseline, as far as it shows in the search: then
  // a candidate is compared with the baseline's run under the same repeat, else with all of its runs. Hosts,
  // which drift, are always compared with the run beside.
  bool is_paired() const;
  void set_baseline_noise(double sd, int degrees);
  const std::map<std::size_t, int>& refused() const { return refused_; }  // by constraint

 private:
  std::uint64_t repeat_seed(int repeat) const;
  bool observe(Trial& trial, const Question& question);
  void rate();
  void charge_for_held_out();
  bool ask(Trial& trial, const std::vector<Request>& requests);

  Plant& plant_;
  const Policy& policy_;
  Policy plain_policy_;
  TuneOptions options_;
  const OnTrial& on_trial_;
  std::stop_token stop_;
  Scorer scorer_;
  Scorer plain_scorer_;
  Random random_;
  std::deque<Trial> trials_;
  std::deque<int> repeats_;  // of them
  std::map<Candidate, Standing> standings_;
  std::map<std::size_t, int> refused_;
  std::map<Candidate, bool> judged_;
  std::int64_t spent_ns_ = 0;
  Candidate best_;
  double baseline_variance_ = 0;
  int baseline_degrees_ = 0;
  std::optional<std::string> plant_error_;
};

}  // namespace rocetune::search
