#include "agent/tune/search/held_out.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/repeats.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// What is held out may lose no more than so many times what counts as a gain, however large chance is; in the
// mean, where a few runs that went wrong make it.
constexpr double kMost = 3;
constexpr double kMostByFew = 5;
// So far below the limit no more runs are asked for.
constexpr double kHopeless = 1.5;
// So many runs beside the baseline tell whether repeats do the same to both.
constexpr std::size_t kLeastBeside = 3;
// So many standard errors are chance. Few: what the search overlooks here, the confirmation finds when there
// is no budget left for another answer.
constexpr double kChance = 1;
// What is lost within the least gain that counts weighs like any other loss: of two as good the one that
// spares.
constexpr double kWithin = 0.25;

Moments moments_of(std::span<const double> scores) {
  Moments out;
  for (const double score : scores) out.add(score);
  return out;
}

// How far a mean of so many may be off where single ones have this variance. 0: too few to say.
double half_width(double variance, double degrees, double runs, double confidence) {
  if (degrees < 1 || variance <= 0) return 0;
  return student_quantile(static_cast<int>(degrees), confidence) * std::sqrt(variance / runs);
}

double welch(const Moments& a, const Moments& b, double confidence) {
  if (a.count() < 2 || b.count() < 2) return 0;
  const auto runs_a = static_cast<double>(a.count());
  const auto runs_b = static_cast<double>(b.count());
  const double part_a = a.variance() / runs_a;
  const double part_b = b.variance() / runs_b;
  const double variance = part_a + part_b;
  if (variance <= 0) return 0;
  const double degrees =
      variance * variance / (part_a * part_a / (runs_a - 1) + part_b * part_b / (runs_b - 1));
  return half_width(variance, std::max(1.0, degrees), 1, confidence);
}

}  // namespace

std::optional<HeldOutChange> held_out_change(const HeldOutScores& scores, bool is_paired, double least_gain,
                                             double confidence) {
  const Moments before = moments_of(scores.before);
  const Moments after = moments_of(scores.after);
  const Moments beside = moments_of(scores.beside);
  const bool is_beside = is_paired || (scores.beside.size() >= kLeastBeside &&
                                       2 * beside.variance() < before.variance() + after.variance());
  HeldOutChange out;
  if (is_beside) {
    if (scores.beside.empty()) return std::nullopt;
    const auto runs = static_cast<double>(beside.count());
    out.middle = median(scores.beside);
    out.mean = beside.mean();
    out.error = half_width(beside.variance(), runs - 1, runs, confidence);
  } else {
    if (scores.before.empty() || scores.after.empty()) return std::nullopt;
    out.middle = median(scores.after) - before.mean();
    out.mean = after.mean() - before.mean();
    out.error = welch(before, after, confidence);
  }
  const double noise = half_width(before.variance(), static_cast<double>(before.count()) - 1, 1, confidence);
  out.floor = std::max({out.error, noise, least_gain});
  return out;
}

double held_out_limit(const HeldOutChange& change, double least_gain) {
  return std::min(change.floor, kMost * least_gain);
}

bool is_hidden(const HeldOutChange& change, double least_gain) { return change.error > kMost * least_gain; }

HeldOutVerdict judged(const HeldOutChange& change, HeldOutStage stage, double least_gain) {
  const double limit = held_out_limit(change, least_gain);
  if (std::min(change.middle, change.mean) >= -limit) return HeldOutVerdict::holds;
  if (stage == HeldOutStage::early)
    return change.middle >= -kHopeless * limit ? HeldOutVerdict::doubtful : HeldOutVerdict::worse;
  if (change.middle < -limit) return HeldOutVerdict::worse;
  if (stage == HeldOutStage::late) return HeldOutVerdict::doubtful;
  return change.mean >= -std::min(change.floor, kMostByFew * least_gain) ? HeldOutVerdict::holds
                                                                         : HeldOutVerdict::worse;
}

std::map<Candidate, HeldOutLoss> held_out_losses(const std::deque<Trial>& trials, const Scorer& scorer,
                                                 const Candidate& start, double least_gain) {
  std::map<Candidate, HeldOutLoss> out;
  for (const std::size_t w : scorer.members(WorkloadSet::held_out)) {
    std::vector<RepeatedScore> scores;
    for (const Trial& trial : trials) {
      if (const auto score = scorer.workload_score(w, trial, true))
        scores.push_back({trial.candidate, trial.repeat, *score});
    }
    const auto effects = effects_of_repeats(scores);
    std::map<Candidate, Moments> runs;
    Moments before;    // what repeats do to candidates,
    Moments as_it_is;  // they may not do to the baseline
    for (const RepeatedScore& one : scores) {
      const double rest = one.score - effects.at(one.repeat);
      if (one.candidate != start) {
        runs[one.candidate].add(rest);
        continue;
      }
      before.add(rest);
      as_it_is.add(one.score);
    }
    if (before.count() == 0) continue;
    if (as_it_is.variance() < before.variance()) before = as_it_is;
    PooledVariance within;
    for (const auto& [candidate, moments] : runs) within.add(moments);
    const double variance = within.degrees() > 0 ? within.variance() : before.variance();
    for (const auto& [candidate, after] : runs) {
      const double error = std::sqrt(variance / static_cast<double>(after.count()) +
                                     before.variance() / static_cast<double>(before.count()));
      const double gain = after.mean() - before.mean();
      const double shown = std::max(0.0, -gain - std::max(least_gain / 2, kChance * error));
      const double counts = std::max(0.0, -gain - std::max(least_gain, kChance * error));
      HeldOutLoss& loss = out.try_emplace(candidate, HeldOutLoss{gain, 0}).first->second;
      loss.gain = std::min(loss.gain, gain);
      loss.excess = std::max(loss.excess, counts + kWithin * shown);
    }
  }
  return out;
}

}  // namespace rocetune::search
