// Whether it holds: the best against the baseline in turns, under circumstances that chose neither.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// Looked at after so many runs of each. The last two may say that it holds, each may be wrong with its part
// of the whole chance (Bonferroni); the first only that it does not.
struct Look {
  int baselines;
  int candidates;  // at least as many; more where it need not run beside the baseline
  bool may_accept;
};
constexpr std::array kLooks{Look{3, 3, false}, Look{3, 5, true}, Look{5, 5, true}};
constexpr int kAcceptingLooks = 2;
// What is held out may lose no more than so many times what counts as a gain, however large chance is.
constexpr double kMostHeldOut = 3;
// Each run of what is steady has this part of the mean gain.
constexpr double kSteady = 0.25;

struct Pair {
  const Trial* baseline = nullptr;
  const Trial* candidate = nullptr;
};

class Confirming {
 public:
  Confirming(Session& session, const Candidate& candidate, int attempt)
      : session_(session),
        candidate_(candidate),
        attempt_(attempt),
        is_paired_(session.is_paired()),
        plain_policy_(session.policy()) {
    plain_policy_.loss_weight = 1;
  }

  // Candidate and baseline under new circumstances, or the candidate alone. A run of the baseline that would
  // show the same again is not repeated. False: the run is over.
  bool run_pair(bool with_baseline) {
    const int number = static_cast<int>(pairs_.size());
    const bool candidate_first = number % 2 == 1;
    Pair pair;
    for (const bool is_candidate : {candidate_first, !candidate_first}) {
      const Trial*& trial = is_candidate ? pair.candidate : pair.baseline;
      const Session::Question question = asked(is_candidate, number);
      trial = session_.known(question);
      if (trial == nullptr && (is_candidate || with_baseline)) {
        trial = session_.run(question);
        if (trial == nullptr) return false;
      }
    }
    pairs_.push_back(pair);
    return true;
  }
  // The baseline where the candidate ran alone.
  bool complete(int baselines) {
    for (std::size_t i = 0; i < std::min(pairs_.size(), static_cast<std::size_t>(baselines)); ++i) {
      if (pairs_[i].baseline != nullptr) continue;
      pairs_[i].baseline = session_.run(asked(false, static_cast<int>(i)));
      if (pairs_[i].baseline == nullptr) return false;
    }
    return true;
  }
  // Trials that are missing for so many runs of the candidate and of the baseline.
  int missing(int candidate, int baseline) const {
    int out = std::max(0, candidate - static_cast<int>(pairs_.size()));
    for (int i = 0; i < baseline; ++i) {
      const bool has_it =
          i < static_cast<int>(pairs_.size()) && pairs_[static_cast<std::size_t>(i)].baseline != nullptr;
      out += has_it || session_.known(asked(false, i)) != nullptr ? 0 : 1;
    }
    return out;
  }
  // Pairs with a run of it.
  int baselines() const {
    return static_cast<int>(
        std::ranges::count_if(pairs_, [](const Pair& pair) { return pair.baseline != nullptr; }));
  }

  bool runs_everywhere(WorkloadSet set) const {
    return std::ranges::all_of(pairs_, [&](const Pair& pair) {
      return session_.scorer().why_no_score(*pair.candidate, set).empty();
    });
  }
  // Gain over all pairs in which the baseline runs: over its run beside, or over all of its runs where a
  // repeat does not do to both the same. None: they are too few.
  std::optional<Interval> gain(WorkloadSet set, double confidence) {
    const std::vector<double> gains = gains_of(set);
    if (gains.size() < 2) return std::nullopt;
    if (is_paired_) return mean_interval(gains, confidence, session_.random());
    const Scorer scorer = scorer_of(set);
    std::vector<double> others;
    for (const Trial& trial : session_.trials()) {
      if (!scorer.is_baseline(trial)) continue;
      if (const auto score = scorer.score(trial, set, true)) others.push_back(*score);
    }
    if (others.empty()) return std::nullopt;
    // The comparison is the mean of the runs; their scores say how much it may be off.
    Moments mean;
    for (const double score : others) mean.add(score);
    for (double& score : others) score -= mean.mean();
    return shift_interval(gains, others, confidence);
  }
  std::vector<double> gains_of(WorkloadSet set) const {
    const Scorer scorer = scorer_of(set);
    std::vector<double> out;
    for (const Pair& pair : pairs_) {
      if (is_paired_ && (pair.baseline == nullptr || !scorer.score(*pair.baseline, set, true))) continue;
      const auto gained = is_paired_ ? scorer.score(*pair.candidate, set, *pair.baseline)
                                     : scorer.score(*pair.candidate, set, true);
      if (gained) out.push_back(*gained);
    }
    return out;
  }

  // A held-out workload that got worse by more than chance and by what would count as a gain, in words;
  // empty: none did. As long as it is not the `is_last` look, by more than half as much again.
  std::string worse_held_out(bool is_last) {
    const Scorer scorer = plain_scorer();
    hurt_.clear();
    for (const std::size_t w : scorer.members(WorkloadSet::held_out)) {
      std::vector<double> before;
      std::vector<double> after;
      std::vector<double> changes;
      for (const Trial& trial : session_.trials()) {
        if (!scorer.is_baseline(trial)) continue;
        if (const auto score = scorer.workload_score(w, trial, true)) before.push_back(*score);
      }
      for (const Pair& pair : pairs_) {
        if (const auto score = scorer.workload_score(w, *pair.candidate, true)) after.push_back(*score);
        if (pair.baseline == nullptr) continue;
        if (const auto change = scorer.workload_score(w, *pair.candidate, *pair.baseline))
          changes.push_back(*change);
      }
      if (!is_paired_) {
        changes.clear();
        for (const double a : after) {
          for (const double b : before) changes.push_back(a - b);
        }
      }
      if (changes.empty()) continue;
      // One run that went wrong is chance.
      const double change = median(changes);
      const double floor = noise_floor(before, after);
      Moments mean;
      for (const double one : changes) mean.add(one);
      if (change >= -floor && mean.mean() >= -2 * floor) continue;
      hurt_ = fmt::format("held-out workload {} got worse by {:.2f} %, {:.2f} % may be",
                          session_.plant().workloads()[w].name,
                          -percent_of(change < -floor ? change : mean.mean()), -percent_of(-floor));
      if (is_last || change < -1.5 * floor || mean.mean() < -3 * floor) return hurt_;
    }
    return {};
  }

  // Pairs in which it does.
  int baseline_failures() const {
    return static_cast<int>(std::ranges::count_if(pairs_, [&](const Pair& pair) {
      return pair.baseline != nullptr &&
             !session_.scorer().score(*pair.baseline, WorkloadSet::searched, true).has_value();
    }));
  }
  // The last worse_held_out found something, if not enough to end it.
  const std::string& hurt() const { return hurt_; }
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  Session::Question asked(bool is_candidate, int number) const {
    const int circumstances = session_.plant().traits().is_repeatable ? 1 : attempt_ + 1;
    return {.phase = Phase::confirm,
            .why = is_candidate ? "the best" : "as it is",
            .candidate = is_candidate ? candidate_ : session_.space().start(),
            .repeat = Session::kFresh * circumstances + number,
            .held_out = true,
            .with_series = number == 0};
  }
  Scorer scorer_of(WorkloadSet set) const {
    return set == WorkloadSet::searched ? session_.scorer() : plain_scorer();
  }
  // Gains and losses alike.
  Scorer plain_scorer() const {
    Scorer out(session_.plant(), plain_policy_);
    for (const Trial& trial : session_.trials()) {
      if (out.is_baseline(trial))
        out.learn_baseline(trial);
      else
        out.learn_fallback(trial);
    }
    return out;
  }
  // How far the means of two workloads' scores may be from each other by chance: Welch's interval, at most so
  // many times what counts as a gain.
  double noise_floor(const std::vector<double>& before, const std::vector<double>& after) const {
    if (before.size() < 2 || after.size() < 2) return session_.least_gain();
    const auto part_of = [](const std::vector<double>& scores) {
      Moments moments;
      for (const double score : scores) moments.add(score);
      return std::pair(moments.variance() / static_cast<double>(scores.size()),
                       static_cast<double>(scores.size() - 1));
    };
    const auto [part_a, degrees_a] = part_of(before);
    const auto [part_b, degrees_b] = part_of(after);
    const double variance = part_a + part_b;
    if (variance <= 0) return session_.least_gain();
    const double degrees = variance * variance / (part_a * part_a / degrees_a + part_b * part_b / degrees_b);
    const double chance =
        student_quantile(std::max(1, static_cast<int>(degrees)), session_.confidence()) * std::sqrt(variance);
    return std::clamp(chance, session_.least_gain(), kMostHeldOut * session_.least_gain());
  }

  Session& session_;
  const Candidate& candidate_;
  int attempt_;
  bool is_paired_;
  Policy plain_policy_;
  std::vector<Pair> pairs_;
  std::string hurt_;
};

std::string range_text(const Interval& gain) {
  const Interval percent = percent_of(gain);
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f})", percent.mid, percent.low, percent.high);
}

// What the pairs so far say. not_shown: not yet.
void judge(Session& session, Confirming& confirming, double confidence, bool is_last, Confirmation& out) {
  if (!confirming.runs_everywhere(WorkloadSet::searched)) {
    out.result = Confirmation::Result::spoiled;
    for (const Pair& pair : confirming.pairs()) {
      const std::string why = session.scorer().why_no_score(*pair.candidate, WorkloadSet::searched);
      if (!why.empty()) out.reason = "the best so far failed when it was confirmed: " + why;
    }
    return;
  }
  out.pairs = static_cast<int>(confirming.pairs().size());
  out.baseline_failures = confirming.baseline_failures();
  out.gain = confirming.gain(WorkloadSet::searched, confidence);
  std::vector<double> scores;
  for (const Pair& pair : confirming.pairs())
    scores.push_back(session.scorer().score(*pair.candidate, WorkloadSet::searched, true).value());
  out.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  out.is_steady = std::ranges::min(scores) > kSteady * out.mean;
  if (!session.scorer().members(WorkloadSet::held_out).empty()) {
    out.held_out = confirming.gain(WorkloadSet::held_out, confidence);
    out.reason = confirming.runs_everywhere(WorkloadSet::held_out)
                     ? confirming.worse_held_out(is_last)
                     : "the best so far failed under a held-out workload";
    if (!out.reason.empty()) {
      out.result = Confirmation::Result::held_out;
      return;
    }
  }
  // The candidate ran in all pairs. Where the baseline did not in half of them, that is worth more than any
  // gain.
  const int baselines = confirming.baselines();
  const bool is_cure = confirming.hurt().empty() && 2 * out.baseline_failures >= baselines &&
                       (!out.gain || out.gain->mid >= -session.least_gain());
  const bool is_better = out.gain && out.gain->low > 0 &&
                         std::min(out.gain->mid, out.mean) >= session.least_gain() &&
                         confirming.hurt().empty();
  out.result = is_better || is_cure ? Confirmation::Result::better : Confirmation::Result::not_shown;
  if (is_cure) {
    out.reason =
        fmt::format("it ran {0} times of {0} under new circumstances, what is there {1} times of {2}",
                    out.pairs, baselines - out.baseline_failures, baselines);
  } else if (!confirming.hurt().empty()) {
    out.reason = confirming.hurt();
  } else if (!out.gain) {
    out.reason = "what is there failed too often to be compared with";
  } else {
    out.reason = is_better
                     ? fmt::format("confirmed under new circumstances: {}", range_text(*out.gain))
                     : fmt::format("the best so far gained {} under new circumstances, {:.2f} % is needed",
                                   range_text(*out.gain), session.policy().minimum_gain_percent);
  }
}

}  // namespace

Confirmation confirm(Session& session, const Candidate& candidate, int attempt, int reserve) {
  Confirming confirming(session, candidate, attempt);
  Confirmation out;
  const double confidence = 1 - (1 - session.confidence()) / kAcceptingLooks;
  const bool is_alone = session.plant().traits().is_repeatable;
  const bool is_quiet = std::max(session.noise_sd(), session.baseline_sd()) < session.least_gain() / 4;
  bool holds_so_far = false;
  for (const Look& look : kLooks) {
    if (!is_alone && !look.may_accept) continue;
    const int runs = is_alone ? look.candidates : look.baselines;
    // Whether it holds comes before what it comes from.
    bool is_whole = session.left() >= reserve + confirming.missing(runs, look.baselines);
    while (is_whole && static_cast<int>(confirming.pairs().size()) < runs)
      is_whole = confirming.run_pair(static_cast<int>(confirming.pairs().size()) < look.baselines);
    is_whole = is_whole && confirming.complete(look.baselines);
    out.trials.clear();
    for (const Pair& pair : confirming.pairs()) {
      for (const Trial* trial : {pair.baseline, pair.candidate}) {
        if (trial != nullptr) out.trials.push_back(trial->number);
      }
    }
    if (!is_whole) {
      // What held with fewer runs holds; more were to show how steady it is.
      if (holds_so_far) out.result = Confirmation::Result::better;
      if (out.result == Confirmation::Result::incomplete)
        out.reason = "the budget ended before it was confirmed";
      return out;
    }
    judge(session, confirming, confidence, look.baselines == kLooks.back().baselines, out);
    holds_so_far = out.result == Confirmation::Result::better;
    if (holds_so_far && !look.may_accept && !is_quiet) {
      out.result = Confirmation::Result::incomplete;
      continue;
    }
    if (out.result != Confirmation::Result::not_shown) return out;
    // Far from worth it: more pairs would not change that.
    if (out.gain && out.gain->high < session.least_gain()) return out;
  }
  return out;
}

}  // namespace rocetune::search
