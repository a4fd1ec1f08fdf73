// What the gain comes from, and what could be had instead.
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"

namespace rocetune::search {
namespace {

// Alone it brings this part of the gain: a cure. Less than this part: nothing.
constexpr double kCure = 0.8;
constexpr double kNothing = 0.2;

// How far a difference of two means may be off by chance.
double half_width(const Session& session, int runs_a, int runs_b) {
  return 2 * session.noise_sd() * std::sqrt(1.0 / runs_a + 1.0 / runs_b);
}

// Runs it unless it has been run. None: it has no score, or the run is over.
std::optional<Standing> measured(Session& session, const Candidate& candidate, const std::string& why,
                                 int reserve) {
  auto standing = session.standing(candidate);
  if (!standing && session.is_allowed(candidate) && session.left() > reserve && !session.is_over()) {
    (void)session.run({.phase = Phase::ablate, .why = why, .candidate = candidate});
    standing = session.standing(candidate);
  }
  return standing;
}

Attribution::Effect effect_of(const Session& session, double whole, std::optional<double> alone,
                              std::optional<double> loss) {
  using Effect = Attribution::Effect;
  if (!alone && !loss) return Effect::not_measured;
  const double least = std::max({half_width(session, 1, 1), session.least_gain() / 3, kNothing / 4 * whole});
  if (alone && *alone >= kCure * whole && *alone >= least) return Effect::cure;
  const bool helps_alone = alone && *alone >= std::max(least, kNothing * whole);
  const bool is_missed = loss && *loss >= least;
  if (alone && !helps_alone && is_missed) return Effect::together;
  return helps_alone || is_missed ? Effect::part : Effect::none;
}

Interval around(const Lead& lead) {
  return percent_of(Interval{lead.score - lead.half, lead.score, lead.score + lead.half});
}

}  // namespace

std::vector<Attribution> attribute(Session& session, const Candidate& best, const Losses& known,
                                   int reserve) {
  const Space& space = session.space();
  const std::vector<ChangeGroup> groups =
      in_sets(session.plant(), groups_of(session.plant(), best),
              [&](const ChangeGroup& group) { return !known.contains(knobs_of(group)); });
  const auto at_best = session.standing(best);
  std::vector<Attribution> out;
  if (!at_best || !at_best->is_good()) return out;
  const auto at_start = session.standing(space.start());
  const double start = at_start && at_start->is_good() ? at_start->mean() : -kMostGain;
  const double whole = at_best->mean() - start;
  std::vector<std::optional<double>> losses(groups.size());
  std::vector<std::optional<double>> gains(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    out.push_back({groups[i].settings, groups[i].suggestion, {}, {}});

  const auto measure_loss = [&](std::size_t i) {
    const Candidate candidate = without(space, best, {groups[i]});
    const auto before = known.find(knobs_of(groups[i]));
    Lead loss;
    if (before != known.end() && !session.standing(candidate)) {
      loss = before->second;
    } else {
      const auto standing =
          measured(session, candidate, "the best without " + space.text(groups[i].settings), reserve);
      if (!standing) return;
      // One that does not run without the change needs it more than any figure says.
      loss = standing->is_good() ? lead_of(session, best, candidate) : Lead{kMostGain, 0};
    }
    losses[i] = loss.score;
    if (loss.score < kMostGain) out[i].without = around(loss);
  };
  const auto measure_gain = [&](std::size_t i) {
    const Candidate candidate = space.canonical(space.with(space.start(), groups[i].settings));
    const auto standing =
        measured(session, candidate, "nothing but " + space.text(groups[i].settings), reserve);
    if (!standing) return;
    const bool is_compared = standing->is_good() && at_start && at_start->is_good();
    const Lead gain = is_compared ? lead_of(session, candidate, space.start()) : Lead{};
    gains[i] = is_compared ? gain.score : standing->is_good() ? standing->mean() - start : 0;
    if (is_compared) out[i].alone = around(gain);
  };
  // What is known to be missed first: whether it helps alone is what people ask next.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool is_known =
        known.contains(knobs_of(groups[i])) || session.standing(without(space, best, {groups[i]}));
    if (is_known) measure_loss(i);
  }
  // Doctor's fixes before what the search found. One that a rule forbids to take back is asked alone.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].suggestion.empty()) continue;
    if (!losses[i]) measure_loss(i);
    if (!losses[i]) measure_gain(i);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (losses[i].value_or(0) >= session.least_gain()) measure_gain(i);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!losses[i]) measure_loss(i);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < groups.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return losses[i].value_or(0); });
  for (const std::size_t i : order) {
    if (!gains[i]) measure_gain(i);
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    out[i].effect = effect_of(session, whole, gains[i], losses[i]);
  return out;
}

std::optional<Pruned> prune(Session& session, const Candidate& best, const Confirmation& confirmed,
                            std::vector<Attribution>& attribution, int attempt) {
  const Space& space = session.space();
  std::vector<std::size_t> idle;  // places in the attribution
  for (std::size_t i = 0; i < attribution.size(); ++i) {
    const bool is_vital =
        std::ranges::any_of(session.plant().suggestions(), [&](const Suggestion& suggestion) {
          return suggestion.is_vital && suggestion.id == attribution[i].suggestion;
        });
    if (attribution[i].effect == Attribution::Effect::none && !is_vital) idle.push_back(i);
  }
  // Those first whose absence costs most: later attempts keep them.
  std::ranges::stable_sort(idle, std::greater<>(), [&](std::size_t i) {
    return attribution[i].without ? attribution[i].without->mid : 0.0;
  });
  // Those that cost as much as would be a gain stay at first, too.
  const auto first = std::ranges::count_if(idle, [&](std::size_t i) {
    return attribution[i].without && attribution[i].without->mid > session.policy().minimum_gain_percent;
  });
  for (int keep = static_cast<int>(first); keep < static_cast<int>(idle.size());
       keep += std::max(1, static_cast<int>((idle.size() - static_cast<std::size_t>(first) + 1) / 2))) {
    Candidate smaller = best;
    std::vector<std::size_t> dropped;
    for (const std::size_t i : std::span(idle).subspan(static_cast<std::size_t>(keep))) {
      const Candidate tried = without(space, smaller, {{attribution[i].settings, {}, false}});
      if (!session.is_allowed(tried)) continue;
      smaller = tried;
      dropped.push_back(i);
    }
    if (dropped.empty() || smaller == space.start()) continue;
    Confirmation check = confirm(session, smaller, attempt);
    if (check.result == Confirmation::Result::incomplete) return std::nullopt;
    if (check.result != Confirmation::Result::better) continue;
    const double runs = check.pairs;
    const double chance = session.noise_sd() * std::sqrt(1 / runs + 1.0 / confirmed.pairs);
    const double allowed = std::clamp(chance, session.negligible(), session.least_gain());
    if (check.gain && confirmed.gain && check.gain->mid < confirmed.gain->mid - allowed) continue;
    std::ranges::sort(dropped, std::greater<>());
    for (const std::size_t i : dropped)
      attribution.erase(attribution.begin() + static_cast<std::ptrdiff_t>(i));
    return Pruned{std::move(smaller), std::move(check)};
  }
  return std::nullopt;
}

std::vector<FrontPoint> front_of(const Session& session) {
  std::map<Candidate, std::pair<int, std::vector<Objectives>>> runs;
  for (const Trial& trial : session.trials()) {
    const auto standing = session.standing(trial.candidate);
    if (!trial.score || !standing || !standing->is_good()) continue;
    auto& [first, all] = runs[trial.candidate];
    if (first == 0) first = trial.number;
    for (const std::size_t w : session.scorer().members(WorkloadSet::searched))
      all.push_back(trial.observations[w]->objectives);
  }
  std::vector<FrontPoint> points;
  for (const auto& [candidate, all] : runs) points.push_back({candidate, all.first, mean_of(all.second)});
  const auto beats = [](const Objectives& a, const Objectives& b) {
    bool is_better = false;
    for (const ObjectiveKind& kind : objective_kinds()) {
      const auto& x = a[kind.objective];
      const auto& y = b[kind.objective];
      if (!x || !y) continue;
      if (kind.more_is_better ? *x < *y : *x > *y) return false;
      is_better = is_better || *x != *y;
    }
    return is_better;
  };
  std::vector<FrontPoint> out;
  for (const FrontPoint& point : points) {
    const bool is_beaten =
        std::ranges::any_of(points, [&](const FrontPoint& other) { return beats(other.means, point.means); });
    if (!is_beaten) out.push_back(point);
  }
  std::ranges::sort(out, {}, &FrontPoint::trial);
  return out;
}

}  // namespace rocetune::search
