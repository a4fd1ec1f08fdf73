// Whether it holds: the best against the baseline in turns, under circumstances that chose neither.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "agent/tune/search/held_out.h"
#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// Looked at after so many runs of each. All but the first may say that it holds, each may be wrong
// with its part of the whole chance (Bonferroni); the first only that it does not. The last is for what
// gains enough, and a few runs leave a doubt.
struct Look {
  int baselines;
  int candidates;  // at least as many; more where it need not run beside the baseline
  bool may_accept;
  HeldOutStage held_out;
};
constexpr std::array kLooks{Look{3, 3, false, HeldOutStage::early}, Look{3, 5, true, HeldOutStage::early},
                            Look{5, 5, true, HeldOutStage::late}, Look{5, 8, true, HeldOutStage::settled}};
constexpr int kAcceptingLooks = 3;
// Each run of what is steady has this part of the mean gain.
constexpr double kSteady = 0.25;

struct Pair {
  const Trial* baseline = nullptr;
  const Trial* candidate = nullptr;
};

class Confirming {
 public:
  Confirming(Session& session, const Candidate& candidate, int attempt)
      : session_(session), candidate_(candidate), attempt_(attempt), is_paired_(session.is_paired()) {}

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
      const Session::Question question = asked(false, static_cast<int>(i));
      pairs_[i].baseline = session_.known(question);
      if (pairs_[i].baseline == nullptr) pairs_[i].baseline = session_.run(question);
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
  // Gain over all pairs in which the baseline runs: over its run beside, where a repeat does to both the
  // same; over all of its runs, where it can be repeated (a baseline that suffers from a fault is often noisy
  // beyond any interval of few differences). Of two the one that says more, each wrong with half the chance.
  // None: they are too few.
  std::optional<Interval> gain(WorkloadSet set, double confidence) {
    const bool is_repeatable = session_.plant().traits().is_repeatable;
    if (!is_paired_) return gain_over_all(set, confidence);
    const std::vector<double> gains = gains_of(set, true);
    if (gains.size() < 2) return std::nullopt;
    const double each = is_repeatable ? (1 + confidence) / 2 : confidence;
    const Interval beside = mean_interval(gains, each, session_.random());
    const auto over_all = is_repeatable ? gain_over_all(set, each) : std::nullopt;
    return over_all && over_all->low > beside.low ? *over_all : beside;
  }
  std::optional<Interval> gain_over_all(WorkloadSet set, double confidence) const {
    const std::vector<double> gains = gains_of(set, false);
    if (gains.size() < 2) return std::nullopt;
    const Scorer& scorer = scorer_of(set);
    std::vector<double> others;
    for (const Trial& trial : session_.trials()) {
      if (!scorer.is_baseline(trial)) continue;
      if (const auto score = scorer.score(trial, set, true)) others.push_back(*score);
    }
    if (others.empty()) return std::nullopt;
    return shift_interval(gains, others, confidence);
  }
  std::vector<double> gains_of(WorkloadSet set, bool is_paired) const {
    const Scorer& scorer = scorer_of(set);
    std::vector<double> out;
    for (const Pair& pair : pairs_) {
      if (is_paired && (pair.baseline == nullptr || !scorer.score(*pair.baseline, set, true))) continue;
      const auto gained = is_paired ? scorer.score(*pair.candidate, set, *pair.baseline)
                                    : scorer.score(*pair.candidate, set, true);
      if (gained) out.push_back(*gained);
    }
    return out;
  }

  // Chance may hide more of what is held out than it may lose: it needs more runs.
  bool is_held_out_hidden() const {
    const Scorer& scorer = session_.plain_scorer();
    return std::ranges::any_of(scorer.members(WorkloadSet::held_out), [&](std::size_t w) {
      const auto change = change_of(scorer, w);
      return change && is_hidden(*change, session_.least_gain());
    });
  }
  // The worst of what is held out. Sets `hurt`.
  HeldOutVerdict held_out(HeldOutStage stage) {
    const Scorer& scorer = session_.plain_scorer();
    HeldOutVerdict out = HeldOutVerdict::holds;
    hurt_.clear();
    for (const std::size_t w : scorer.members(WorkloadSet::held_out)) {
      const auto change = change_of(scorer, w);
      if (!change) continue;
      const HeldOutVerdict verdict = judged(*change, stage, session_.least_gain());
      if (verdict == HeldOutVerdict::holds) continue;
      const double limit = held_out_limit(*change, session_.least_gain());
      hurt_ = fmt::format(
          "held-out workload {} got worse by {:.2f} %, {:.2f} % may be", session_.plant().workloads()[w].name,
          -percent_of(change->middle < -limit ? change->middle : change->mean), -percent_of(-limit));
      if (verdict == HeldOutVerdict::worse) return verdict;
      out = verdict;
    }
    return out;
  }

  // Pairs in which it does.
  int baseline_failures() const {
    return static_cast<int>(std::ranges::count_if(pairs_, [&](const Pair& pair) {
      return pair.baseline != nullptr &&
             !session_.scorer().score(*pair.baseline, WorkloadSet::searched, true).has_value();
    }));
  }
  // What the last look at what is held out found, if not enough to end it.
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
  // What is held out: gains and losses alike.
  const Scorer& scorer_of(WorkloadSet set) const {
    return set == WorkloadSet::searched ? session_.scorer() : session_.plain_scorer();
  }
  std::optional<HeldOutChange> change_of(const Scorer& scorer, std::size_t workload) const {
    HeldOutScores scores;
    std::map<std::uint64_t, const Trial*> baselines;  // by repeat, where a candidate's run is beside them
    for (const Trial& trial : session_.trials()) {
      if (!scorer.is_baseline(trial)) continue;
      if (session_.plant().traits().is_repeatable || trial.phase == Phase::confirm)
        baselines[trial.repeat] = &trial;
      if (const auto score = scorer.workload_score(workload, trial, true)) scores.before.push_back(*score);
    }
    for (const Trial& trial : session_.trials()) {
      if (trial.candidate != candidate_) continue;
      if (const auto score = scorer.workload_score(workload, trial, true)) scores.after.push_back(*score);
      const auto baseline = baselines.find(trial.repeat);
      if (baseline == baselines.end()) continue;
      if (const auto change = scorer.workload_score(workload, trial, *baseline->second))
        scores.beside.push_back(*change);
    }
    return held_out_change(scores, is_paired_, session_.least_gain(), session_.confidence());
  }

  Session& session_;
  const Candidate& candidate_;
  int attempt_;
  bool is_paired_;
  std::vector<Pair> pairs_;
  std::string hurt_;
};

std::string range_text(const Interval& gain) {
  const Interval percent = percent_of(gain);
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f})", percent.mid, percent.low, percent.high);
}

// What the pairs so far say. not_shown: not yet.
void judge(Session& session, Confirming& confirming, double confidence, HeldOutStage stage,
           Confirmation& out) {
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
    const bool runs = confirming.runs_everywhere(WorkloadSet::held_out);
    if (!runs || confirming.held_out(stage) == HeldOutVerdict::worse) {
      out.reason = runs ? confirming.hurt() : "the best so far failed under a held-out workload";
      out.result = Confirmation::Result::held_out;
      return;
    }
  }
  // The candidate ran in all pairs. Where the baseline did not in half of them, that is worth more than any
  // gain.
  const int baselines = confirming.baselines();
  const bool is_cure = confirming.hurt().empty() && 2 * out.baseline_failures >= baselines &&
                       (!out.gain || out.gain->mid >= -session.least_gain());
  const bool is_gain =
      out.gain && out.gain->low > 0 && std::min(out.gain->mid, out.mean) >= session.least_gain();
  const bool is_better = is_gain && confirming.hurt().empty();
  out.is_doubtful = out.gain && std::min(out.gain->mid, out.mean) >= session.least_gain() && !is_better;
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
  const bool is_quiet = std::max(session.noise_sd(), session.baseline_sd()) < session.negligible();
  bool holds_so_far = false;
  for (const Look& look : kLooks) {
    if (!is_alone && !look.may_accept) continue;
    const bool settles = look.held_out == HeldOutStage::settled;
    if (settles && (!is_alone || !out.is_doubtful)) break;
    const int runs = is_alone ? look.candidates : look.baselines;
    // Whether it holds comes before what it comes from.
    const int kept = look.baselines > kLooks.front().baselines ? reserve : 0;
    bool is_whole = session.left() >= kept + confirming.missing(runs, look.baselines);
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
      if (holds_so_far && !confirming.is_held_out_hidden()) out.result = Confirmation::Result::better;
      if (out.result == Confirmation::Result::incomplete)
        out.reason = "the budget ended before it was confirmed";
      return out;
    }
    const bool is_last = !is_alone && look.held_out == HeldOutStage::late;
    judge(session, confirming, confidence, is_last ? HeldOutStage::settled : look.held_out, out);
    holds_so_far = out.result == Confirmation::Result::better;
    if (holds_so_far && !look.may_accept && (!is_quiet || confirming.is_held_out_hidden())) {
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
