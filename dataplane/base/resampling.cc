#include "dataplane/base/resampling.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "congestion/fixed_point.h"
#include "dataplane/base/statistics.h"

namespace rocetune {
namespace {

constexpr std::size_t kExactUpTo = 60;  // C(60, 30) arrangements still fit 64 bits
constexpr int kArrangements = 10'000;

double of_resample(std::span<const double> sample, std::vector<double>& scratch, const Statistic& statistic,
                   Random& random) {
  scratch.clear();
  for (std::size_t i = 0; i < sample.size(); ++i) scratch.push_back(sample[random.below(sample.size())]);
  return statistic(scratch);
}

double of_sample(std::span<const double> sample, const Statistic& statistic) {
  std::vector<double> copy(sample.begin(), sample.end());
  return statistic(copy);
}

ConfidenceInterval interval(double estimate, std::vector<double> draws, Ratio confidence) {
  std::sort(draws.begin(), draws.end());
  const Ratio tail = (Ratio::one() - confidence) / 2;
  return {estimate, interpolated(draws, tail), interpolated(draws, Ratio::one() - tail)};
}

// Twice the rank of every value in a ++ b, ranks from 1, ties sharing their mean: always whole.
std::vector<std::int64_t> twice_ranks(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::vector<std::int64_t> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    // Ranks begin + 1 .. end have the mean (begin + 1 + end) / 2.
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<std::int64_t>(begin + 1 + end);
    begin = end;
  }
  return ranks;
}

// The share of all ways to choose `chosen` of the ranks whose sum is at least `distance` away from `centre`
// (both for doubled ranks, the centre doubled once more so that it is whole).
Ratio exact_share(const std::vector<std::int64_t>& ranks, std::size_t chosen, std::int64_t twice_centre,
                  std::int64_t twice_distance) {
  const auto largest = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0}));
  // ways[k][s]: choices of k ranks with sum s among those looked at so far.
  std::vector<std::vector<std::uint64_t>> ways(chosen + 1, std::vector<std::uint64_t>(largest + 1));
  ways[0][0] = 1;
  for (const std::int64_t rank : ranks) {
    const auto r = static_cast<std::size_t>(rank);
    for (std::size_t k = chosen; k > 0; --k) {
      for (std::size_t s = r; s <= largest; ++s) ways[k][s] += ways[k - 1][s - r];
    }
  }
  Wide all = 0;
  Wide extreme = 0;
  for (std::size_t s = 0; s <= largest; ++s) {
    all += ways[chosen][s];
    if (std::abs(2 * static_cast<std::int64_t>(s) - twice_centre) >= twice_distance) {
      extreme += ways[chosen][s];
    }
  }
  return Ratio(static_cast<std::int64_t>(extreme * Ratio::kOne / all));
}

// Draws a random choice of `chosen` items to the front.
void draw_front(std::vector<std::int64_t>& items, std::size_t chosen, Random& random) {
  for (std::size_t i = 0; i < chosen; ++i) std::swap(items[i], items[i + random.below(items.size() - i)]);
}

}  // namespace

ConfidenceInterval bootstrap(std::span<const double> sample, const Statistic& statistic, Ratio confidence,
                             int rounds, Random& random) {
  ROCETUNE_ASSERT(!sample.empty() && rounds >= 100 && confidence > Ratio() && confidence < Ratio::one());
  std::vector<double> draws;
  std::vector<double> scratch;
  for (int i = 0; i < rounds; ++i) draws.push_back(of_resample(sample, scratch, statistic, random));
  return interval(of_sample(sample, statistic), std::move(draws), confidence);
}

ConfidenceInterval bootstrap_difference(std::span<const double> a, std::span<const double> b,
                                        const Statistic& statistic, Ratio confidence, int rounds,
                                        Random& random) {
  ROCETUNE_ASSERT(!a.empty() && !b.empty() && rounds >= 100 && confidence > Ratio() &&
                  confidence < Ratio::one());
  std::vector<double> draws;
  std::vector<double> scratch;
  for (int i = 0; i < rounds; ++i) {
    const double of_a = of_resample(a, scratch, statistic, random);
    draws.push_back(of_a - of_resample(b, scratch, statistic, random));
  }
  return interval(of_sample(a, statistic) - of_sample(b, statistic), std::move(draws), confidence);
}

RankTest mann_whitney(std::span<const std::int64_t> a, std::span<const std::int64_t> b, Random& random) {
  ROCETUNE_ASSERT(!a.empty() && !b.empty());
  std::vector<std::int64_t> ranks = twice_ranks(a, b);
  const auto n = static_cast<std::int64_t>(a.size());
  const auto m = static_cast<std::int64_t>(b.size());
  const std::int64_t sum = std::accumulate(ranks.begin(), ranks.begin() + n, std::int64_t{0});
  const std::int64_t twice_centre = 2 * n * (n + m + 1);  // doubled mean of the doubled rank sum
  const std::int64_t twice_distance = std::abs(2 * sum - twice_centre);
  RankTest out;
  out.twice_u = sum - n * (n + 1);
  out.a_is_larger = Ratio::of(out.twice_u, 2 * n * m);
  out.is_exact = ranks.size() <= kExactUpTo;
  if (out.is_exact) {
    out.p = exact_share(ranks, a.size(), twice_centre, twice_distance);
    return out;
  }
  std::int64_t extreme = 1;
  for (int i = 0; i < kArrangements; ++i) {
    draw_front(ranks, a.size(), random);
    const std::int64_t drawn = std::accumulate(ranks.begin(), ranks.begin() + n, std::int64_t{0});
    if (std::abs(2 * drawn - twice_centre) >= twice_distance) ++extreme;
  }
  out.p = Ratio::of(extreme, kArrangements + 1);
  return out;
}

TestResult permutation_test(std::span<const std::int64_t> a, std::span<const std::int64_t> b, int rounds,
                            Random& random) {
  ROCETUNE_ASSERT(!a.empty() && !b.empty() && rounds > 0 && a.size() + b.size() <= 1u << 20);
  std::vector<std::int64_t> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  for (const std::int64_t value : values) ROCETUNE_ASSERT(value >= -kLargest && value <= kLargest);
  const auto n = static_cast<std::ptrdiff_t>(a.size());
  const Wide total = std::accumulate(values.begin(), values.end(), Wide(0));
  // mean(front) - mean(rest) = (sum × all - total × n) / (n × rest): the numerator decides.
  const auto numerator = [&] {
    const Wide sum = std::accumulate(values.begin(), values.begin() + n, Wide(0));
    const Wide difference = sum * Wide(values.size()) - total * n;
    return difference < 0 ? -difference : difference;
  };
  const Wide observed = numerator();
  std::int64_t extreme = 1;
  for (int i = 0; i < rounds; ++i) {
    draw_front(values, a.size(), random);
    if (numerator() >= observed) ++extreme;
  }
  return {Ratio::of(extreme, std::int64_t{rounds} + 1), false};
}

}  // namespace rocetune
