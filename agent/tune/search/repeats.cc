#include "agent/tune/search/repeats.h"

#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

constexpr int kSweeps = 4;
constexpr double kShrinkage = 2;  // candidates

}  // namespace

std::map<std::uint64_t, double> effects_of_repeats(const std::vector<RepeatedScore>& scores) {
  std::map<Candidate, std::map<std::uint64_t, Moments>> layout;
  std::map<std::uint64_t, double> effects;
  for (const RepeatedScore& one : scores) {
    layout[one.candidate][one.repeat].add(one.score);
    effects[one.repeat] = 0;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    std::map<std::uint64_t, std::vector<double>> rests;
    for (const auto& [candidate, runs] : layout) {
      if (runs.size() < 2) continue;
      Moments mean;
      for (const auto& [repeat, score] : runs) mean.add(score.mean() - effects[repeat]);
      for (const auto& [repeat, score] : runs) rests[repeat].push_back(score.mean() - mean.mean());
    }
    for (const auto& [repeat, rest] : rests) {
      const auto count = static_cast<double>(rest.size());
      effects[repeat] = median(rest) * count / (count + kShrinkage);
    }
  }
  return effects;
}

}  // namespace rocetune::search
