#include "agent/tune/twin/twin_guide.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/tuner.h"
#include "dataplane/base/statistics.h"

namespace rocetune::twin {
namespace {

using search::Candidate;
using search::Trial;

constexpr int kRepeats = 3;     // of what is expected of a candidate
constexpr int kFitRepeats = 2;  // of each point
// What is timed or counted otherwise by the workload than by the twin tells nothing of cables and switches.
constexpr double kSameThing = 4;
// Of candidates that gain, those that gain at least so much of what the best does.
constexpr double kOfTheBest = 0.25;
constexpr std::size_t kMostRanked = 10;
// Candidates that turn the same knobs are two if a number lies this far apart, of its range.
constexpr double kFarApart = 0.3;
// What a change brings less of than this part of the whole is not needed.
constexpr double kNeedless = 0.03;
// So many are enough to see whether "nothing helps" holds.
constexpr std::size_t kChecks = 3;

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Moments moments;
  for (const double value : values) moments.add(value);
  return moments.mean();
}

// What the runs show in the mean; absent where one of them does not show it.
Readings mean_of(const std::vector<Readings>& all) {
  Readings out;
  for (std::size_t q = 0; q < kQuantities; ++q) {
    std::vector<double> values;
    for (const Readings& one : all) {
      if (one.values[q]) values.push_back(*one.values[q]);
    }
    if (!values.empty() && values.size() == all.size()) out.values[q] = mean_of(values);
  }
  return out;
}

// Spread of the logarithm of one run by chance.
double chance_of(const std::vector<Readings>& all, const QuantityKind& kind) {
  Moments moments;
  for (const Readings& one : all) {
    if (one[kind.quantity]) moments.add(std::log(*one[kind.quantity] + kind.least));
  }
  return moments.standard_deviation() / std::sqrt(std::max<double>(1, static_cast<double>(moments.count())));
}

bool is_objective(Quantity q) {
  return q == Quantity::goodput || q == Quantity::busbw || q == Quantity::latency || q == Quantity::p99_fct;
}

// The baseline's runs that ended well, by workload of the twin.
std::vector<std::vector<Readings>> baseline_of(const std::deque<Trial>& trials, const Candidate& start,
                                               std::size_t workloads) {
  std::vector<std::vector<Readings>> out(workloads);
  for (const Trial& trial : trials) {
    if (!(trial.candidate == start)) continue;
    for (std::size_t w = 0; w < workloads && w < trial.observations.size(); ++w) {
      if (trial.observations[w] && search::fault_of(*trial.observations[w], true).empty())
        out[w].push_back(readings_of(*trial.observations[w]));
    }
  }
  return out;
}

// Where a target was read.
struct Place {
  std::size_t workload;
  Quantity quantity;
};
struct Targets {
  std::vector<Place> places;
  std::vector<Target> targets;  // one a place
};

// What the hosts showed and the twin can be fitted to; `report` says it of everything that they showed.
Targets targets_of(const Twin& twin, const std::vector<std::vector<Readings>>& baseline,
                   const std::vector<Readings>& before, std::vector<Observed>& report) {
  Targets out;
  for (std::size_t w = 0; w < baseline.size(); ++w) {
    const Readings observed = baseline[w].empty() ? Readings() : mean_of(baseline[w]);
    for (const QuantityKind& kind : quantity_kinds()) {
      const auto& value = observed[kind.quantity];
      if (!value) continue;
      const double chance = chance_of(baseline[w], kind);
      const double doubt = std::sqrt(kind.doubt * kind.doubt + chance * chance);
      Observed one{.workload = twin.workloads()[w].of_hosts,
                   .quantity = std::string(kind.name),
                   .unit = std::string(kind.unit),
                   .observed = *value,
                   .doubt_percent = 100 * std::expm1(doubt),
                   .before = before[w][kind.quantity]};
      if (!one.before) {
        one.why_not_fitted = "the twin shows no such number";
      } else if (is_objective(kind.quantity) &&
                 std::abs(std::log((*value + kind.least) / (*one.before + kind.least))) >
                     std::log(kSameThing)) {
        one.why_not_fitted = fmt::format(
            "more than {:g} times off: the workload measures something else than the twin", kSameThing);
      } else {
        out.places.push_back({w, kind.quantity});
        out.targets.push_back({*value, doubt, kind.least});
      }
      report.push_back(std::move(one));
    }
  }
  return out;
}

// Those of the twin's unknowns that rest on a place; `report` says why the others are not fitted.
std::vector<std::size_t> unknowns_seen_in(const std::vector<Place>& places, const Twin& twin,
                                          std::vector<Note>& report) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < twin.unknowns().size(); ++i) {
    const TwinUnknown& unknown = twin.unknowns()[i];
    const bool is_seen = std::ranges::any_of(places, [&](const Place& place) {
      return std::ranges::find(unknown.rests_on, place.quantity) != unknown.rests_on.end();
    });
    if (is_seen) {
      out.push_back(i);
      continue;
    }
    std::string names;
    for (const Quantity q : unknown.rests_on)
      names += (names.empty() ? "" : ", ") + std::string(kind_of(q).name);
    report.push_back(
        {unknown.unknown.name, fmt::format("nothing to fit it to ({}); it is as the file has it", names)});
  }
  return out;
}

bool are_alike(const search::Space& space, const Candidate& a, const Candidate& b) {
  for (std::size_t k = 0; k < space.size(); ++k) {
    const double x = a.values[k], y = b.values[k];
    if (x == y) continue;
    if (!space[k].is_numeric() || (x == space[k].start) != (y == space[k].start)) return false;
    if (std::abs(space[k].position(x) - space[k].position(y)) > kFarApart) return false;
  }
  return true;
}

}  // namespace

TwinGuide::TwinGuide(const Twin& twin, const search::Policy& policy, GuideOptions options)
    : twin_(twin), policy_(policy), options_(std::move(options)) {}

std::string TwinGuide::identity() const {
  return fmt::format("{} {} {} {}", twin_.sha256(), options_.budget, options_.fit_points,
                     options_.candidates);
}

void TwinGuide::tell(std::string_view what, int done, int of) const {
  if (options_.on_progress) options_.on_progress(what, done, of);
}

// By point, by workload.
std::vector<std::vector<Readings>> TwinGuide::model(const std::vector<std::vector<double>>& points,
                                                    const std::stop_token& stop) const {
  const std::size_t workloads = twin_.workloads().size();
  std::vector<Twin::Run> runs;
  for (const std::vector<double>& point : points) {
    for (std::size_t w = 0; w < workloads; ++w) {
      for (std::uint64_t repeat = 0; repeat < kFitRepeats; ++repeat)
        runs.push_back({twin_.hosts().space().start(), w, repeat, point});
    }
  }
  const std::vector<search::Observation> seen = twin_.run_all(runs, options_.threads, stop);
  std::vector<std::vector<Readings>> out;
  std::size_t at = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<Readings>& by_workload = out.emplace_back();
    for (std::size_t w = 0; w < workloads; ++w) {
      std::vector<Readings> repeats;
      for (int repeat = 0; repeat < kFitRepeats; ++repeat) repeats.push_back(readings_of(seen[at++]));
      by_workload.push_back(mean_of(repeats));
    }
  }
  return out;
}

bool TwinGuide::fit_to(const std::deque<Trial>& trials, const std::stop_token& stop) {
  const Candidate start = twin_.hosts().space().start();
  const auto baseline = baseline_of(trials, start, twin_.workloads().size());
  std::vector<double> of_file;
  for (const TwinUnknown& unknown : twin_.unknowns()) of_file.push_back(unknown.unknown.start);
  const auto before = model({of_file}, stop);
  if (stop.stop_requested()) return false;

  const Targets seen = targets_of(twin_, baseline, before[0], report_.observed);
  const std::vector<std::size_t> free = unknowns_seen_in(seen.places, twin_, report_.not_fitted);
  std::vector<Unknown> unknowns;
  for (const std::size_t i : free) unknowns.push_back(twin_.unknowns()[i].unknown);
  const auto whole = [&](const std::vector<double>& point) {
    std::vector<double> out = of_file;
    for (std::size_t i = 0; i < free.size(); ++i) out[free[i]] = point[i];
    return out;
  };
  int done = 0;
  const Model asked = [&](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> all;
    for (const auto& point : points) all.push_back(whole(point));
    Modelled out;
    for (const auto& by_workload : model(all, stop)) {
      auto& row = out.emplace_back();
      for (const Place& place : seen.places) row.push_back(by_workload[place.workload][place.quantity]);
    }
    done += static_cast<int>(points.size());
    tell("twin: fitted to the hosts", std::min(done, options_.fit_points), options_.fit_points);
    return out;
  };
  const auto fitted = fit(unknowns, seen.targets, asked, options_.fit_points, stop);
  if (!fitted) return false;
  std::vector<double> point;
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    const FittedUnknown& one = fitted->unknowns[i];
    point.push_back(one.value);
    report_.parameters.push_back(
        {unknowns[i].name, unknowns[i].unit, unknowns[i].start, one.value, one.low, one.high, one.is_told});
  }
  values_ = whole(point);
  std::size_t t = 0;
  for (Observed& one : report_.observed) {
    if (one.why_not_fitted.empty()) one.fitted = fitted->modelled[t++];
  }
  report_.misfit_before = fitted->misfit_before;
  report_.misfit = fitted->misfit;
  report_.fit_runs = (fitted->points + 1) * kFitRepeats * static_cast<int>(twin_.workloads().size());
  return true;
}

// Candidates of the twin's space, those that gained most in its search first.
std::vector<Candidate> TwinGuide::search_twin(const std::stop_token& stop) {
  const search::TuneOptions options{.budget = {.trials = options_.budget}, .seed = options_.seed};
  const auto outcome = search::tune(
      *plant_, policy_, options,
      [&](const search::Progressed& p) { tell("twin: searched", p.done, options_.budget); }, stop);
  report_.search_trials = static_cast<int>(outcome.trials.size());
  report_.search_reason = outcome.reason;
  std::map<Candidate, std::vector<double>> scores;
  std::map<Candidate, bool> is_spoiled;
  for (const Trial& trial : outcome.trials) {
    if (trial.score) {
      scores[trial.candidate].push_back(*trial.score);
    } else {
      is_spoiled[trial.candidate] = true;
    }
  }
  std::vector<std::pair<double, Candidate>> ranked;
  for (const auto& [candidate, of_it] : scores) {
    if (candidate == plant_->space().start() || is_spoiled.contains(candidate)) continue;
    ranked.emplace_back(-*mean_of(of_it), candidate);
  }
  std::ranges::sort(ranked);
  std::vector<Candidate> out;
  if (outcome.verdict == search::Verdict::change) out.push_back(outcome.best);
  for (auto& [score, candidate] : ranked) {
    if (out.size() < kMostRanked && std::ranges::find(out, candidate) == out.end())
      out.push_back(std::move(candidate));
  }
  return out;
}

std::vector<search::Guide::Proposal> TwinGuide::propose(const std::deque<Trial>& trials,
                                                        std::stop_token stop) {
  if (twin_.knobs().empty()) {
    report_.failure = "no knob of the hosts has a counterpart in the twin";
    return {};
  }
  const Candidate start = twin_.hosts().space().start();
  for (const Trial& trial : trials) {
    for (std::size_t w = 0; w < twin_.workloads().size() && w < trial.observations.size(); ++w) {
      if (!trial.observations[w] || !(trial.candidate == start)) continue;
      for (std::size_t i = 0; i < search::kObjectives; ++i)
        measured_[i] = measured_[i] || trial.observations[w]->objectives.values[i].has_value();
    }
  }
  if (std::ranges::none_of(measured_, [](bool is) { return is; })) {
    report_.failure = "the baseline measured nothing that it could be fitted to";
    return {};
  }
  if (!fit_to(trials, stop)) {
    report_.failure = "it was stopped";
    return {};
  }
  plant_ = std::make_unique<TwinPlant>(twin_, values_, measured_, options_.threads);
  scorer_ = std::make_unique<search::Scorer>(*plant_, policy_);
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    scorer_->learn_baseline(run(plant_->space().start(), static_cast<std::uint64_t>(repeat)));

  std::vector<std::pair<double, Candidate>> ranked;
  for (const Candidate& found : search_twin(stop)) {
    if (stop.stop_requested()) return {};
    Candidate candidate = needed_of(found);
    if (candidate == plant_->space().start()) candidate = found;
    if (const auto score = expected_of_twin(candidate)) ranked.emplace_back(-*score, std::move(candidate));
  }
  if (stop.stop_requested()) return {};
  std::ranges::stable_sort(ranked, {}, [](const auto& one) { return one.first; });
  const double least = search::score_of_percent(policy_.minimum_gain_percent);
  const double best = ranked.empty() ? 0 : -ranked.front().first;
  const bool promises = best >= least;
  std::vector<Candidate> chosen;
  std::vector<Proposal> out;
  for (const auto& [negative, candidate] : ranked) {
    const double score = -negative;
    const std::size_t most = promises ? static_cast<std::size_t>(options_.candidates) : kChecks;
    if (out.size() == most || score < (promises ? std::max(least, best * kOfTheBest) : -least)) break;
    const bool is_known = std::ranges::any_of(
        chosen, [&](const Candidate& other) { return are_alike(plant_->space(), candidate, other); });
    if (is_known) continue;
    chosen.push_back(candidate);
    out.push_back(
        {plant_->of_hosts(candidate), fmt::format("the twin expects {:+.1f} %", search::percent_of(score))});
  }
  report_.proposed = static_cast<int>(out.size());
  return out;
}

// Without what the twin does not need: what is tried on hosts is small.
Candidate TwinGuide::needed_of(Candidate of_twin) {
  const search::Space& space = plant_->space();
  const auto whole = expected_of_twin(of_twin);
  if (!whole) return of_twin;
  double may_lose = std::max(search::score_of_percent(policy_.minimum_gain_percent) / 2, *whole * kNeedless);
  double left = *whole;
  for (const search::Setting& setting : space.difference(space.start(), of_twin)) {
    Candidate without = of_twin;
    without.values[setting.knob] = space[setting.knob].start;
    without = space.canonical(std::move(without));
    if (search::broken(plant_->constraints(), space, without)) continue;
    const auto score = expected_of_twin(without);
    if (!score || *score < left - may_lose) continue;
    may_lose -= std::max(0.0, left - *score);
    left = *score;
    of_twin = without;
  }
  return of_twin;
}

Trial TwinGuide::run(const Candidate& of_twin, std::uint64_t repeat) {
  Trial out{.candidate = of_twin, .repeat = repeat};
  std::vector<search::Request> requests;
  for (std::size_t w = 0; w < plant_->workloads().size(); ++w)
    requests.push_back({of_twin, w, repeat, false});
  for (auto& seen : plant_->observe_all(requests, {})) {
    out.observations.push_back(seen ? std::optional(std::move(*seen)) : std::nullopt);
  }
  return out;
}

std::optional<double> TwinGuide::expected_of_twin(const Candidate& of_twin) {
  if (const auto known = expected_.find(of_twin); known != expected_.end()) return known->second;
  std::vector<double> scores;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Trial trial = run(of_twin, static_cast<std::uint64_t>(repeat));
    const auto score = scorer_->score(trial, search::WorkloadSet::searched);
    if (!score) break;
    scores.push_back(*score);
  }
  auto& out = expected_[of_twin];
  if (scores.size() == kRepeats) out = mean_of(scores);
  return out;
}

std::optional<double> TwinGuide::expected(const Candidate& of_hosts) {
  if (!plant_) return std::nullopt;
  const auto candidate = plant_->of_twin(of_hosts);
  if (!candidate || *candidate == plant_->space().start()) return std::nullopt;
  return expected_of_twin(*candidate);
}

}  // namespace rocetune::twin
