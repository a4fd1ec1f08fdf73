// What a candidate does to a workload that nobody searched on.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "agent/tune/search/score.h"

namespace rocetune::search {

// Scores of one workload over the baseline's mean, gains and losses alike.
struct HeldOutScores {
  std::vector<double> before;  // runs of the baseline: A/A and beside the candidate
  std::vector<double> after;   // of the candidate, whenever it ran there
  std::vector<double> beside;  // of the candidate over the baseline's run under the same repeat
};

// As scores; below 0 is worse.
struct HeldOutChange {
  double middle = 0;  // median of the runs
  double mean = 0;
  double error = 0;  // how far the mean may be off by chance
  // The noise floor: what chance alone does to one run of the baseline (A/A), or to the mean where that is
  // more, or the least gain that counts.
  double floor = 0;
};
// Over the baseline's runs beside where repeats do the same to both (`is_paired`, or that halves the
// variance), else over all of its runs (Welch, Biometrika 34, 1947). None: there is nothing to compare.
std::optional<HeldOutChange> held_out_change(const HeldOutScores& scores, bool is_paired, double least_gain,
                                             double confidence);

// How much is known when it is judged: as it looks so far; of all runs but those that a doubt is worth; of
// these, too.
enum class HeldOutStage { early, late, settled };
enum class HeldOutVerdict { holds, doubtful, worse };
// Worse: the middle or the mean is below the noise floor, of which at most three times the least gain counts.
// Doubtful, and more runs tell: early, if the middle is not below half as much again; late, if only the mean
// is below, which a few runs make that went wrong. Settled, these may cost the noise floor up to five times
// the least gain.
HeldOutVerdict judged(const HeldOutChange& change, HeldOutStage stage, double least_gain);
// What of the change counts as the limit of it: the noise floor, or what is the most that may be.
double held_out_limit(const HeldOutChange& change, double least_gain);
// Chance may hide more than that limit: more runs are needed even if nothing shows.
bool is_hidden(const HeldOutChange& change, double least_gain);

// What the trials so far say of a candidate, where held-out workloads run in all of them.
struct HeldOutLoss {
  double gain = 0;  // over the baseline, mean of its runs, of the worst of these workloads
  // What is lost beyond chance and the least gain that counts, and a quarter of what is lost beyond chance
  // and half of that; 0 or more.
  double excess = 0;
};
// By candidate, but for the start. `scorer` weighs gains and losses alike.
std::map<Candidate, HeldOutLoss> held_out_losses(const std::deque<Trial>& trials, const Scorer& scorer,
                                                 const Candidate& start, double least_gain);

}  // namespace rocetune::search
