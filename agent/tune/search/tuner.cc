#include "agent/tune/search/tuner.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

constexpr int kConfirmTrials = 8;
constexpr int kSecondTrials = 5;   // of another one, if the first does not hold
constexpr int kMostConfirmed = 3;  // candidates
// A part of the best's gain that is worth having without the rest.
constexpr double kGoodPart = 0.4;
// Candidates that have all but this part of their settings in common are siblings: what hurts one hurts both.
constexpr std::size_t kSiblings = 3;
// Of the best, before anything is built on it: what breaks down in one run of four shows in five of them.
constexpr int kStressRuns = 5;
constexpr int kLeastStress = 3;  // trials

constexpr const char* kNothingBetter = "nothing that was tried was better than what is there";
constexpr double kShownPercent = 0.005;  // less is 0 as it is printed

// Restores whatever happens.
class Restored {
 public:
  explicit Restored(Plant& plant) : plant_(plant) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() {
    if (!is_done_) (void)plant_.restore();
  }
  void now(Outcome& outcome) {
    is_done_ = true;
    const auto status = plant_.restore();
    outcome.restored = status.has_value();
    if (!status) outcome.restore_error = status.error().text();
  }

 private:
  Plant& plant_;
  bool is_done_ = false;
};

std::string reason_to_refuse(const Plant& plant, const TuneOptions& options) {
  if (options.budget.trials && *options.budget.trials < kLeastTrials)
    return fmt::format("a budget of {} trials shows nothing: at least {}", *options.budget.trials,
                       kLeastTrials);
  if (std::ranges::none_of(plant.workloads(), [](const Workload& w) { return !w.held_out; }))
    return "there is no workload to search on";
  if (plant.space().size() == 0) return "there is nothing to turn";
  return {};
}

// No workload measures anything that has a weight; empty: some does, or nothing is known.
std::string why_nothing_counts(const Session& session) {
  const std::vector<std::size_t> searched = session.scorer().members(WorkloadSet::searched);
  if (!std::ranges::all_of(searched, [&](std::size_t w) { return session.scorer().is_mute(w); })) return {};
  std::string wanted;
  for (const ObjectiveKind& kind : objective_kinds()) {
    if (session.policy().weight_of(kind.objective) > 0)
      wanted += (wanted.empty() ? "" : ", ") + std::string(kind.name);
  }
  return "no workload that is searched on measures what counts: " + wanted;
}

Objectives median_of(const std::vector<Objectives>& runs) {
  Objectives out;
  for (const ObjectiveKind& kind : objective_kinds()) {
    std::vector<double> values;
    for (const Objectives& run : runs) {
      if (run[kind.objective]) values.push_back(*run[kind.objective]);
    }
    if (!values.empty()) out[kind.objective] = median(values);
  }
  return out;
}

// Before and after by workload, from the pairs of the confirmation, else the baseline's trials alone.
std::vector<WorkloadResult> results_of(Session& session, const std::vector<int>& confirmed) {
  std::vector<WorkloadResult> out;
  const Candidate start = session.space().start();
  for (std::size_t w = 0; w < session.plant().workloads().size(); ++w) {
    std::vector<Objectives> before;
    std::vector<Objectives> after;
    std::vector<double> gains;
    std::map<std::uint64_t, const Trial*> baseline;
    for (const bool want_start : {true, false}) {
      for (const Trial& trial : session.trials()) {
        const bool is_wanted = confirmed.empty() ? trial.phase == Phase::baseline
                                                 : std::ranges::count(confirmed, trial.number) > 0;
        if (!is_wanted || (trial.candidate == start) != want_start) continue;
        const auto& observation = trial.observations[w];
        if (!observation || !fault_of(*observation, want_start).empty()) continue;
        (want_start ? before : after).push_back(observation->objectives);
        if (want_start) {
          baseline[trial.repeat] = &trial;
        } else if (const auto pair = baseline.find(trial.repeat); pair != baseline.end()) {
          if (const auto gained = session.scorer().workload_score(w, trial, *pair->second))
            gains.push_back(*gained);
        }
      }
    }
    WorkloadResult result;
    result.workload = w;
    result.baseline = median_of(before);
    if (!after.empty()) result.best = median_of(after);
    if (gains.size() >= 2)
      result.gain_percent = percent_of(mean_interval(gains, session.confidence(), session.random()));
    out.push_back(result);
  }
  return out;
}

// Candidates worth a confirmation: the best; then what is another one and no sibling of it, and brings a good
// part of its gain: doctor's fixes and nothing else, the one with the fewest changes, the next best.
std::vector<Candidate> finalists(const Session& session) {
  const Space& space = session.space();
  const Candidate start = space.start();
  std::vector<Candidate> out{session.best()};
  const auto add = [&](const Candidate& candidate) {
    const auto standing = session.standing(candidate);
    if (!standing || !standing->is_good() || std::ranges::count(out, candidate) > 0) return;
    out.push_back(candidate);
  };
  const Candidate fixed = fixes_of(session);
  const auto at_fixed = session.standing(fixed);
  if (at_fixed && at_fixed->is_good() && at_fixed->mean() > session.best_score() * kGoodPart) add(fixed);
  const std::size_t changes = space.difference(start, session.best()).size();
  std::vector<Candidate> others = by_rank(session);
  std::erase_if(others, [&](const Candidate& candidate) {
    return space.difference(session.best(), candidate).size() <= 1 + changes / kSiblings ||
           session.standing(candidate)->mean() < session.best_score() * kGoodPart;
  });
  if (!others.empty()) {
    const Candidate next = others.front();
    add(*std::ranges::min_element(
        others, {}, [&](const Candidate& candidate) { return space.difference(start, candidate).size(); }));
    add(next);
  }
  add(fixed);
  return out;
}

// all[at] cost what is held out too much: the best of those that spare it half of that, if there is one,
// comes next.
void put_sparing_next(const Session& session, std::vector<Candidate>& all, std::size_t at) {
  const double lost = session.standing(all[at])->held_out;
  const double margin = session.negligible();
  for (const Candidate& candidate : by_rank(session)) {
    const Standing standing = session.standing(candidate).value();
    const bool spares = standing.held_out > std::max(lost + margin, lost / 2);
    if (!spares || standing.mean() < session.best_score() * kGoodPart) continue;
    const auto next = all.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    if (std::find(all.begin(), next, candidate) != next) continue;  // was confirmed before
    // One that would have come later comes now.
    const auto there = std::find(next, all.end(), candidate);
    if (there == all.end())
      all.insert(next, candidate);
    else
      std::rotate(next, there, there + 1);
    return;
  }
}

// Nothing better was found because nothing could be measured; empty: something was.
std::string why_none_ran(const Session& session) {
  int tried = 0;
  for (const auto& [candidate, standing] : session.standings()) {
    if (candidate == session.space().start()) continue;
    if (standing.runs() > 0) return {};
    ++tried;
  }
  if (tried == 0) return {};
  std::string why;
  for (const Trial& trial : session.trials()) {
    if (!session.scorer().is_baseline(trial))
      why = session.scorer().why_no_score(trial, WorkloadSet::searched);
  }
  return fmt::format("none of the {} changes that were tried ran: {}", tried, why);
}

class Tuning {
 public:
  Tuning(Session& session, Outcome& outcome, Guide* guide)
      : session_(session), outcome_(outcome), guide_(guide), proposer_(session) {}

  void run(const std::stop_token& stop) {
    if (!measure_baseline(session_, outcome_)) return interrupted();
    if (const std::string why = why_nothing_counts(session_); !why.empty()) return refuse(why);
    const int total = session_.total();
    const int to_confirm = std::clamp(total / 4, 6, kConfirmTrials);
    const int to_explain = std::min(9, total / 6);
    const int to_shrink = std::min(6, total / 10);
    const int reserve = to_confirm + to_explain + to_shrink;
    std::vector<Guide::Proposal> proposals;
    if (guide_ != nullptr) proposals = guide_->propose(session_.trials(), stop);
    try_remedies(session_, outcome_);
    if (guide_ != nullptr && follow(session_, *guide_, proposals, outcome_, reserve)) {
      outcome_.stop_reason = "what was foretold held";
    } else {
      try_presets(session_, outcome_, reserve);
      reassure(session_, reserve);
      outcome_.stop_reason = search_on(session_, proposer_, reserve);
    }
    if (session_.left() > to_confirm + to_explain) add_remedies(session_);
    reassure(session_, to_confirm + to_explain, trials_of(session_, kStressRuns, kLeastStress));
    if (session_.is_stopped()) return interrupted();
    // What is taken back to no loss need not be explained; what does not hold needs a second confirmation.
    decide(to_confirm + std::max(to_explain / 2, std::min(kSecondTrials, total / 12)));
  }

 private:
  void decide(int to_keep) {
    const Candidate start = session_.space().start();
    const auto at_start = session_.standing(start);
    const bool start_fails = !at_start || !at_start->is_good();
    outcome_.verdict = Verdict::no_change;
    if (session_.best() == start) {
      const bool is_all_baseline = std::ranges::all_of(
          session_.trials(), [&](const Trial& trial) { return trial.candidate == start; });
      outcome_.reason = why_none_ran(session_);
      if (start_fails) outcome_.reason = "nothing that was tried ran, the baseline included";
      if (outcome_.reason.empty() && is_all_baseline)
        outcome_.reason = "the budget ended before anything was tried";
      if (outcome_.reason.empty()) outcome_.reason = kNothingBetter;
      return;
    }
    if (!start_fails && session_.best_score() < session_.least_gain()) {
      const double percent = percent_of(session_.best_score());
      outcome_.reason =
          percent < kShownPercent
              ? kNothingBetter
              : fmt::format(
                    "the best that was tried gained {:.2f} %, {:.2f} % is needed to be worth a change",
                    percent, session_.policy().minimum_gain_percent);
      return;
    }
    losses_ = shrink(session_, proposer_, to_keep);
    int attempt = 0;
    int not_shown = 0;
    std::optional<std::pair<Candidate, Confirmation>> confirmed;
    std::vector<Candidate> all = finalists(session_);
    for (std::size_t next = 0; next < all.size(); ++next) {
      const Candidate candidate = all[next];
      const auto standing = session_.standing(candidate);
      if (attempt == kMostConfirmed || (!start_fails && standing->mean() < session_.least_gain())) break;
      // Doctor's fixes are worth more than a doubt of something else.
      const bool has_fixes = attempt == 0 && all.size() > 1 && all[1] == fixes_of(session_);
      const Confirmation confirmation =
          confirm(session_, candidate, attempt++, has_fixes ? kSecondTrials : 0);
      if (session_.is_stopped()) return interrupted();
      using Result = Confirmation::Result;
      if (confirmation.result == Result::incomplete && !outcome_.reason.empty()) break;  // of the second
      outcome_.reason = confirmation.reason;
      confirmed_ = confirmation.trials;
      if (confirmation.result == Result::better && (!confirmed || confirmation.mean > confirmed->second.mean))
        confirmed = {candidate, confirmation};
      // One that now and then breaks down stands until there is a better one.
      if (confirmation.result == Result::better && confirmation.is_steady) break;
      if (confirmation.result == Result::incomplete) break;
      if (confirmation.result == Result::held_out && session_.plant().traits().watches_held_out)
        put_sparing_next(session_, all, next);
      // One side of the interval decides, half of the allowed error: two candidates may fail to gain enough.
      if (confirmation.result == Result::not_shown && ++not_shown == 2) break;
    }
    if (attempt == 0)
      outcome_.reason =
          fmt::format("the best that was tried gained {:.2f} % in the end, {:.2f} % is needed",
                      percent_of(session_.best_score()), session_.policy().minimum_gain_percent);
    if (!confirmed) return;
    outcome_.reason = confirmed->second.reason;
    confirmed_ = confirmed->second.trials;
    accept(confirmed->first, confirmed->second, attempt);
  }

  void accept(Candidate best, Confirmation confirmation, int attempt) {
    outcome_.verdict = Verdict::change;
    const int to_check = session_.plant().traits().is_repeatable ? 3 : 6;
    outcome_.attribution = attribute(session_, best, losses_, session_.left() > 2 * to_check ? to_check : 0);
    if (auto pruned = prune(session_, best, confirmation, outcome_.attribution, attempt)) {
      best = std::move(pruned->candidate);
      confirmation = std::move(pruned->confirmation);
      outcome_.reason = confirmation.reason;
      confirmed_ = confirmation.trials;
    }
    outcome_.best = best;
    if (confirmation.gain) outcome_.gain_percent = percent_of(*confirmation.gain);
    if (confirmation.held_out) outcome_.held_out_gain_percent = percent_of(*confirmation.held_out);
  }

  void refuse(const std::string& why) {
    outcome_.verdict = Verdict::refused;
    outcome_.reason = outcome_.stop_reason = why;
  }

  void interrupted() {
    outcome_.verdict = Verdict::interrupted;
    const std::string what =
        session_.plant_error() ? "the plant failed: " + *session_.plant_error() : "it was stopped";
    const std::size_t trials = session_.trials().size();
    outcome_.reason = fmt::format("{} after {} trial{}", what, trials, trials == 1 ? "" : "s");
    outcome_.stop_reason = what;
  }

 public:
  void finish() {
    outcome_.workloads = results_of(session_, confirmed_);
    outcome_.front = front_of(session_);
    for (const auto& [constraint, times] : session_.refused()) {
      const Constraint& known = session_.plant().constraints()[constraint];
      outcome_.not_tried.push_back(
          {fmt::format("{}: {}", known.id, known.rule), "refused before a trial", times});
    }
    const Space& space = session_.space();
    for (std::size_t k = 0; k < space.size(); ++k) {
      const bool was_turned = std::ranges::any_of(
          session_.trials(), [&](const Trial& trial) { return trial.candidate.values[k] != space[k].start; });
      if (!was_turned) outcome_.not_tried.push_back({space[k].name, "no trial turned it"});
    }
    if (outcome_.guidance && !session_.is_stopped()) {
      // What was decided stays; what is known of each candidate has grown.
      Guidance grown = guidance_of(session_, *guide_);
      outcome_.guidance->foretold = std::move(grown.foretold);
    }
    outcome_.plant_error = session_.plant_error();
    outcome_.trials.assign(session_.trials().begin(), session_.trials().end());
  }

 private:
  Session& session_;
  Outcome& outcome_;
  Guide* guide_;
  Proposer proposer_;
  std::vector<int> confirmed_;
  Losses losses_;
};

}  // namespace

Outcome tune(Plant& plant, const Policy& policy, const TuneOptions& options, const OnTrial& on_trial,
             const std::stop_token& stop) {
  Outcome outcome;
  outcome.budget_trials = options.budget.trials.value_or(0);
  outcome.start = outcome.best = plant.space().start();
  Restored restored(plant);
  restored.now(outcome);  // of a run that died
  outcome.reason = reason_to_refuse(plant, options);
  if (!outcome.restored)
    outcome.reason = "an earlier run's changes could not be undone: " + outcome.restore_error;
  if (!outcome.reason.empty()) {
    outcome.verdict = Verdict::refused;
    return outcome;
  }
  Session session(plant, policy, options, on_trial, stop);
  Restored at_end(plant);
  Tuning tuning(session, outcome, options.guide);
  tuning.run(stop);
  tuning.finish();
  if (session.trials().empty() && session.plant_error()) {
    outcome.verdict = Verdict::refused;
    outcome.reason = "the baseline cannot be measured: " + *session.plant_error();
  }
  at_end.now(outcome);
  return outcome;
}

}  // namespace rocetune::search
