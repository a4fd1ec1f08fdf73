#include "agent/tune/search/session.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "agent/tune/search/held_out.h"
#include "agent/tune/search/interval.h"
#include "agent/tune/search/repeats.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

constexpr int kDefaultTrials = 60;
constexpr int kEnoughDegrees = 4;
// Of what is lost on held-out workloads, beside loss_weight: it has to outweigh what is gained by it, as it
// is no answer in the end.
constexpr double kHeldOutWeight = 2;

// May be the doing of something that passes: worth a second run where circumstances do not repeat.
bool may_pass(const Observation& observation) {
  if (!observation.confounders.empty()) return true;
  return observation.failure && observation.failure->kind != FailureKind::link_down &&
         observation.failure->kind != FailureKind::not_applied;
}

Policy without_loss_weight(Policy policy) {
  policy.loss_weight = 1;
  return policy;
}

}  // namespace

double Standing::mean() const {
  Moments moments;
  for (const double score : scores) moments.add(score);
  return moments.mean();
}

double Standing::sd() const {
  Moments moments;
  for (const double score : scores) moments.add(score);
  return moments.standard_deviation();
}

Session::Session(Plant& plant, const Policy& policy, const TuneOptions& options, const OnTrial& on_trial,
                 std::stop_token stop)
    : plant_(plant),
      policy_(policy),
      plain_policy_(without_loss_weight(policy)),
      options_(options),
      on_trial_(on_trial),
      stop_(std::move(stop)),
      scorer_(plant, policy),
      plain_scorer_(plant, plain_policy_),
      random_(options.seed),
      best_(plant.space().start()) {
  if (!options_.budget.trials && !options_.budget.time) options_.budget.trials = kDefaultTrials;
}

double Session::least_gain() const { return score_of_percent(policy_.minimum_gain_percent); }

std::uint64_t Session::repeat_seed(int repeat) const {
  return Random(options_.seed, 1 + static_cast<std::uint64_t>(repeat)).next();
}

int Session::total() const { return left() == INT_MAX ? INT_MAX : static_cast<int>(trials_.size()) + left(); }

int Session::left() const {
  int out = INT_MAX;
  const int done = static_cast<int>(trials_.size());
  if (options_.budget.trials) out = std::max(0, *options_.budget.trials - done);
  if (options_.budget.time) {
    const std::int64_t budget_ns = *options_.budget.time / nanoseconds(1);
    const std::int64_t a_trial_ns = done > 0 ? std::max<std::int64_t>(1, spent_ns_ / done) : 0;
    if (spent_ns_ >= budget_ns) return 0;
    if (a_trial_ns > 0)
      out = static_cast<int>(std::min<std::int64_t>(out, (budget_ns - spent_ns_) / a_trial_ns));
  }
  return out;
}

bool Session::is_allowed(const Candidate& candidate) {
  if (const auto known = judged_.find(candidate); known != judged_.end()) return known->second;
  bool allowed = space().is_safe(candidate);
  if (allowed) {
    if (const auto why = broken(plant_.constraints(), space(), candidate)) {
      ++refused_[why->constraint];
      allowed = false;
    }
  }
  judged_.emplace(candidate, allowed);
  return allowed;
}

bool Session::ask(Trial& trial, const std::vector<Request>& requests) {
  std::vector<Expected<Observation>> answers = plant_.observe_all(requests, stop_);
  ROCETUNE_ASSERT(answers.size() == requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!answers[i]) {
      if (!stop_.stop_requested()) plant_error_ = answers[i].error().text();
      return false;
    }
    spent_ns_ += answers[i]->took_ns;
    trial.observations[requests[i].workload] = std::move(*answers[i]);
  }
  return true;
}

bool Session::observe(Trial& trial, const Question& question) {
  std::vector<std::size_t> workloads = scorer_.members(WorkloadSet::searched);
  if (question.held_out || plant_.traits().watches_held_out) {
    const auto held_out = scorer_.members(WorkloadSet::held_out);
    workloads.insert(workloads.end(), held_out.begin(), held_out.end());
  }
  const std::size_t batch = std::max<std::size_t>(1, plant_.traits().parallel);
  for (std::size_t from = 0; from < workloads.size(); from += batch) {
    std::vector<Request> requests;
    for (std::size_t i = from; i < std::min(workloads.size(), from + batch); ++i)
      requests.push_back({trial.candidate, workloads[i], trial.repeat, question.with_series});
    if (!ask(trial, requests)) return false;
    for (const Request& request : requests) {
      if (plant_.traits().is_repeatable || !may_pass(*trial.observations[request.workload])) continue;
      if (!ask(trial, {request})) return false;
    }
    // A candidate that fails once is out; the baseline is measured to the end whatever happens.
    const bool is_spoiled = std::ranges::any_of(
        requests, [&](const Request& r) { return !fault_of(*trial.observations[r.workload]).empty(); });
    if (is_spoiled && trial.phase != Phase::baseline && trial.phase != Phase::confirm) break;
  }
  return true;
}

const Trial* Session::run(const Question& question) {
  if (is_over()) return nullptr;
  Trial trial;
  trial.number = static_cast<int>(trials_.size()) + 1;
  trial.phase = question.phase;
  trial.why = question.why;
  trial.candidate = space().canonical(question.candidate);
  trial.repeat = repeat_seed(question.repeat);
  trial.observations.resize(plant_.workloads().size());
  ROCETUNE_ASSERT(space().is_safe(trial.candidate));
  ROCETUNE_ASSERT(!broken(plant_.constraints(), space(), trial.candidate));
  if (!observe(trial, question)) return nullptr;

  const bool is_baseline = trial.candidate == space().start();
  for (Scorer* scorer : {&scorer_, &plain_scorer_}) {
    if (is_baseline)
      scorer->learn_baseline(trial);
    else
      scorer->learn_fallback(trial);
  }
  trials_.push_back(std::move(trial));
  repeats_.push_back(question.repeat);
  rate();
  if (Trial& last = trials_.back(); !last.score) {
    std::string fault = scorer_.why_no_score(last, WorkloadSet::searched);
    if (fault.empty()) fault = scorer_.why_no_score(last, WorkloadSet::held_out);
    if (!fault.empty()) last.why += "; " + fault;
  }
  if (on_trial_) {
    on_trial_({trials_.back(), static_cast<int>(trials_.size()), options_.budget.trials, best_score()});
  }
  return &trials_.back();
}

const Trial* Session::known(const Question& question) const {
  if (!plant_.traits().is_repeatable) return nullptr;
  const Candidate candidate = space().canonical(question.candidate);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Trial& trial = trials_[i];
    const bool is_whole =
        std::ranges::all_of(trial.observations, [](const auto& o) { return o.has_value(); });
    if (repeats_[i] == question.repeat && trial.candidate == candidate && is_whole) return &trial;
  }
  return nullptr;
}

std::optional<Standing> Session::standing(const Candidate& candidate) const {
  const auto found = standings_.find(space().canonical(candidate));
  return found == standings_.end() ? std::nullopt : std::optional(found->second);
}

double Session::best_score() const {
  const auto at_best = standing(best_);
  return at_best && at_best->is_good() ? at_best->mean() : 0;
}

// Scores and standings of all trials, from what is known of the baseline by now; without what the repeat does
// to all.
void Session::rate() {
  std::vector<RepeatedScore> scores;
  for (Trial& trial : trials_) {
    trial.score = scorer_.score(trial, WorkloadSet::searched, true);
    if (trial.score) scores.push_back({trial.candidate, trial.repeat, *trial.score});
  }
  if (plant_.traits().is_repeatable) {
    const auto effects = effects_of_repeats(scores);
    for (Trial& trial : trials_) {
      if (trial.score) *trial.score -= effects.at(trial.repeat);
    }
  }
  standings_.clear();
  if (plant_.traits().watches_held_out) charge_for_held_out();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    Standing& standing = standings_[trials_[i].candidate];
    if (!trials_[i].score) {
      ++standing.spoiled;
      continue;
    }
    standing.scores.push_back(*trials_[i].score);
    standing.latest[repeats_[i]] = *trials_[i].score;
  }
}

// What a candidate costs held-out workloads counts against it; what it gains there is nothing to it. One that
// does not run there is no candidate.
void Session::charge_for_held_out() {
  const auto losses = held_out_losses(trials_, plain_scorer_, space().start(), least_gain());
  for (Trial& trial : trials_) {
    const auto loss = losses.find(trial.candidate);
    if (loss != losses.end()) {
      standings_[trial.candidate].held_out = loss->second.gain;
      const double charge = kHeldOutWeight * policy_.loss_weight * loss->second.excess;
      standings_[trial.candidate].charge = charge;
      if (trial.score) *trial.score -= charge;
    }
    if (!scorer_.why_no_score(trial, WorkloadSet::held_out).empty()) trial.score.reset();
  }
}

bool Session::is_paired() const {
  if (!plant_.traits().is_repeatable) return true;
  // The slope of candidates over the baseline, repeat by repeat; before anything is known half of it.
  std::map<int, double> baseline;
  std::map<Candidate, std::map<int, double>> others;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (repeats_[i] >= kFresh) continue;
    const auto score = scorer_.score(trials_[i], WorkloadSet::searched, true);
    if (!score) continue;
    (scorer_.is_baseline(trials_[i]) ? baseline : others[trials_[i].candidate])[repeats_[i]] = *score;
  }
  double squares = baseline_variance_;
  double products = baseline_variance_ / 2;
  for (const auto& [candidate, runs] : others) {
    Moments x;
    Moments y;
    for (const auto& [repeat, score] : runs) {
      if (!baseline.contains(repeat)) continue;
      x.add(baseline[repeat]);
      y.add(score);
    }
    for (const auto& [repeat, score] : runs) {
      if (!baseline.contains(repeat)) continue;
      squares += (baseline[repeat] - x.mean()) * (baseline[repeat] - x.mean());
      products += (baseline[repeat] - x.mean()) * (score - y.mean());
    }
  }
  return products >= squares / 2;
}

void Session::set_baseline_noise(double sd, int degrees) {
  baseline_variance_ = sd * sd;
  baseline_degrees_ = degrees;
}

double Session::noise_sd() const {
  PooledVariance within;
  for (const auto& [candidate, standing] : standings_) {
    if (!standing.is_good() || candidate == space().start()) continue;
    Moments moments;
    for (const double score : standing.scores) moments.add(score);
    within.add(moments);
  }
  if (within.degrees() < kEnoughDegrees) within.add(baseline_variance_, baseline_degrees_);
  return std::sqrt(within.variance());
}

}  // namespace rocetune::search
