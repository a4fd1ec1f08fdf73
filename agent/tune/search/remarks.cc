#include "agent/tune/search/remarks.h"

#include <algorithm>
#include <map>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/score.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {

std::optional<BestSoFar> best_so_far(const Outcome& outcome) {
  if (outcome.verdict != Verdict::interrupted) return std::nullopt;
  struct Sum {
    double scores = 0;
    int count = 0;
    bool is_spoiled = false;
  };
  std::map<Candidate, Sum> sums;
  for (const Trial& trial : outcome.trials) {
    Sum& sum = sums[trial.candidate];
    sum.is_spoiled = sum.is_spoiled || !trial.score;
    sum.scores += trial.score.value_or(0);
    ++sum.count;
  }
  std::optional<BestSoFar> best;
  for (const auto& [candidate, sum] : sums) {
    const double gain = percent_of(sum.scores / sum.count);
    if (sum.is_spoiled || candidate == outcome.start || gain <= (best ? best->gain_percent : 0)) continue;
    best = {.candidate = candidate, .gain_percent = gain, .trials = sum.count};
  }
  return best;
}

std::vector<Worsened> worsened_by(const Plant& plant, const Policy& policy, const Outcome& outcome) {
  std::vector<Worsened> out;
  if (outcome.verdict != Verdict::change) return out;
  for (std::size_t w = 0; w < plant.workloads().size(); ++w) {
    for (const ObjectiveKind& kind : objective_kinds()) {
      if (policy.weight_of(kind.objective) == 0) continue;
      const auto values_of = [&](const Candidate& candidate) {
        std::map<std::uint64_t, double> values;  // by repeat
        for (const Trial& trial : outcome.trials) {
          if (trial.candidate != candidate || !trial.observations[w]) continue;
          if (const auto& value = trial.observations[w]->objectives[kind.objective])
            values[trial.repeat] = *value;
        }
        return values;
      };
      const std::map<std::uint64_t, double> before = values_of(outcome.start);
      std::vector<double> gains;
      std::vector<double> changes;
      for (const auto& [repeat, after] : values_of(outcome.best)) {
        const auto pair = before.find(repeat);
        if (pair == before.end()) continue;
        gains.push_back(gain(kind.objective, after, pair->second));
        const double change =
            kind.is_ratio_scale && pair->second > 0 ? after / pair->second - 1 : after - pair->second;
        changes.push_back(100 * change);
      }
      const double least = score_of_percent(policy.minimum_gain_percent);
      if (gains.size() < 2 || *std::ranges::max_element(gains) > 0 || median(gains) > -least) continue;
      out.push_back({plant.workloads()[w].name, kind.objective, median(changes)});
    }
  }
  return out;
}

}  // namespace rocetune::search
