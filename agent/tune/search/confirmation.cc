// Whether it holds: the best against the baseline in turns, under circumstances that chose neither.
#include <algorithm>
#include <array>
#include <cmath>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// Looked at after so many pairs; each look may be wrong with its part of the whole chance (Bonferroni).
constexpr std::array kLooks{3, 5};

struct Pair {
  const Trial* baseline = nullptr;
  const Trial* candidate = nullptr;
};

class Confirming {
 public:
  Confirming(Session& session, const Candidate& candidate, int attempt)
      : session_(session), candidate_(candidate), attempt_(attempt) {}

  // Two more trials. False: the run is over.
  bool run_pair() {
    const int number = static_cast<int>(pairs_.size());
    const bool candidate_first = number % 2 == 1;
    Pair pair;
    for (const bool is_candidate : {candidate_first, !candidate_first}) {
      const Trial* trial = session_.run({.phase = Phase::confirm,
                                         .why = is_candidate ? "the best" : "as it is",
                                         .candidate = is_candidate ? candidate_ : session_.space().start(),
                                         .repeat = Session::kFresh * (attempt_ + 1) + number,
                                         .held_out = true,
                                         .with_series = number == 0});
      if (trial == nullptr) return false;
      (is_candidate ? pair.candidate : pair.baseline) = trial;
    }
    pairs_.push_back(pair);
    return true;
  }

  // Difference of a workload's scores in a pair; none: the candidate's run has no score. Of a baseline that
  // does not run there is no difference: 0 stands for its score.
  std::optional<double> difference(const Pair& pair, std::size_t workload) {
    const auto candidate = session_.scorer().workload_score(workload, *pair.candidate, true);
    if (!candidate) return std::nullopt;
    const auto baseline = session_.scorer().workload_score(workload, *pair.baseline, true);
    return *candidate - baseline.value_or(0);
  }

  // Over all pairs in which the baseline runs; none: a run of the candidate is spoiled.
  std::optional<std::vector<double>> differences(WorkloadSet set) {
    std::vector<double> out;
    for (const Pair& pair : pairs_) {
      const bool is_compared = session_.scorer().score(*pair.baseline, set, true).has_value();
      std::vector<std::optional<double>> by_workload(session_.plant().workloads().size());
      for (const std::size_t w : session_.scorer().members(set)) {
        if (session_.scorer().is_mute(w)) continue;
        by_workload[w] = difference(pair, w);
        if (!by_workload[w]) return std::nullopt;
      }
      if (is_compared) out.push_back(session_.scorer().combined(by_workload, set));
    }
    return out;
  }

  // A held-out workload that got worse by more than chance, in words; empty: none did.
  std::string worse_held_out() {
    for (const std::size_t w : session_.scorer().members(WorkloadSet::held_out)) {
      Moments change;
      for (const Pair& pair : pairs_) {
        if (!session_.scorer().workload_score(w, *pair.baseline, true)) continue;
        if (const auto d = difference(pair, w)) change.add(*d);
      }
      const double floor = noise_floor(w);
      if (change.mean() < -floor) {
        return fmt::format("held-out workload {} got worse by {:.2f} %, chance explains {:.2f} %",
                           session_.plant().workloads()[w].name, -percent_of(change.mean()),
                           -percent_of(-floor));
      }
    }
    return {};
  }

  // Pairs in which it does.
  int baseline_failures() const {
    return static_cast<int>(std::ranges::count_if(pairs_, [&](const Pair& pair) {
      return !session_.scorer().score(*pair.baseline, WorkloadSet::searched, true).has_value();
    }));
  }
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  // How far one run of the baseline may be from another by chance, from all its runs.
  double noise_floor(std::size_t workload) const {
    Moments moments;
    for (const Trial& trial : session_.trials()) {
      if (!session_.scorer().is_baseline(trial)) continue;
      if (const auto score = session_.scorer().workload_score(workload, trial, true)) moments.add(*score);
    }
    if (moments.count() < 2) return 0;
    return student_quantile(static_cast<int>(moments.count()) - 1, session_.confidence()) *
           moments.standard_deviation();
  }

  Session& session_;
  const Candidate& candidate_;
  int attempt_;
  std::vector<Pair> pairs_;
};

std::string range_text(const Interval& gain) {
  const Interval percent = percent_of(gain);
  return fmt::format("{:+.2f} % ({:+.2f} to {:+.2f})", percent.mid, percent.low, percent.high);
}

// What the pairs so far say. not_shown: not yet.
void judge(Session& session, Confirming& confirming, double confidence, Confirmation& out) {
  const auto gains = confirming.differences(WorkloadSet::searched);
  const bool is_spoiled =
      std::ranges::any_of(confirming.pairs(), [](const Pair& p) { return !p.candidate->score; });
  if (!gains || is_spoiled) {
    out.result = Confirmation::Result::spoiled;
    for (const Pair& pair : confirming.pairs()) {
      const std::string why = session.scorer().why_no_score(*pair.candidate, WorkloadSet::searched);
      if (!why.empty()) out.reason = "the best so far failed when it was confirmed: " + why;
    }
    return;
  }
  out.pairs = static_cast<int>(confirming.pairs().size());
  out.baseline_failures = confirming.baseline_failures();
  if (gains->size() >= 2) out.gain = mean_interval(*gains, confidence, session.random());
  if (!session.scorer().members(WorkloadSet::held_out).empty()) {
    const auto held_out = confirming.differences(WorkloadSet::held_out);
    if (!held_out) {
      out.result = Confirmation::Result::held_out;
      out.reason = "the best so far failed under a held-out workload";
      return;
    }
    if (held_out->size() >= 2) out.held_out = mean_interval(*held_out, confidence, session.random());
    out.reason = confirming.worse_held_out();
    if (!out.reason.empty()) {
      out.result = Confirmation::Result::held_out;
      return;
    }
  }
  // The candidate ran in all pairs. Where the baseline did not in half of them, that is worth more than any
  // gain.
  const bool is_cure =
      2 * out.baseline_failures >= out.pairs && (!out.gain || out.gain->mid >= -session.least_gain());
  const bool is_better = out.gain && out.gain->low > 0 && out.gain->mid >= session.least_gain();
  out.result = is_better || is_cure ? Confirmation::Result::better : Confirmation::Result::not_shown;
  if (is_cure) {
    out.reason = fmt::format("it ran {0} times of {0} under new circumstances, what is there {1} times",
                             out.pairs, out.pairs - out.baseline_failures);
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

Confirmation confirm(Session& session, const Candidate& candidate, int attempt) {
  Confirming confirming(session, candidate, attempt);
  Confirmation out;
  const double confidence = 1 - (1 - session.confidence()) / static_cast<double>(kLooks.size());
  for (const int look : kLooks) {
    while (static_cast<int>(confirming.pairs().size()) < look) {
      // A pair is begun only if it can be ended. Whether it holds comes before what it comes from.

      if (session.left() < 2 || !confirming.run_pair()) {
        if (out.result == Confirmation::Result::incomplete)
          out.reason = "the budget ended before it was confirmed";
        return out;
      }
      out.trials.push_back(confirming.pairs().back().baseline->number);
      out.trials.push_back(confirming.pairs().back().candidate->number);
    }
    judge(session, confirming, confidence, out);
    if (out.result != Confirmation::Result::not_shown) return out;
    // Far from worth it: more pairs would not change that.
    if (out.gain && out.gain->high < session.least_gain()) return out;
  }
  return out;
}

}  // namespace rocetune::search
