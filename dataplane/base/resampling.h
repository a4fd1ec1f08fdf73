// Is A really better than B, and by how much: intervals and tests that assume nothing about how measurements
// are distributed. Random numbers are passed in, so the same seed gives the same verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "congestion/units.h"
#include "dataplane/base/random.h"

namespace rocetune {

// What is estimated from a sample; gets it in any order and may reorder it.
using Statistic = std::function<double(std::span<double>)>;

struct ConfidenceInterval {
  double estimate = 0;  // of the sample itself
  double low = 0;
  double high = 0;
};

// Percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13): the
// statistic of `rounds` samples drawn with replacement, cut at (1 - confidence) / 2 on both sides. The sample
// must not be empty; rounds >= 100, 2000 is usual; 0 < confidence < 1.
ConfidenceInterval bootstrap(std::span<const double> sample, const Statistic& statistic, Ratio confidence,
                             int rounds, Random& random);
// The same for statistic(a) - statistic(b) of two independent samples.
ConfidenceInterval bootstrap_difference(std::span<const double> a, std::span<const double> b,
                                        const Statistic& statistic, Ratio confidence, int rounds,
                                        Random& random);

struct TestResult {
  Ratio p;                // two-sided
  bool is_exact = false;  // all arrangements counted, not a random choice of them
};

// Mann and Whitney's U test, "On a test of whether one of two random variables is stochastically larger than
// the other", Annals of Mathematical Statistics 18(1), 1947. Ties get their mean rank. Exact, ties included,
// up to 60 values in all; beyond, 10000 random arrangements with p = (1 + as extreme) / (1 + arrangements).
// Integer arithmetic only. Neither sample may be empty.
struct RankTest : TestResult {
  std::int64_t twice_u = 0;  // 2 × U of a: pairs with a > b count 2, ties 1
  Ratio a_is_larger;         // U / (pairs): probability that an a exceeds a b (0.5: no difference)
};
RankTest mann_whitney(std::span<const std::int64_t> a, std::span<const std::int64_t> b, Random& random);

// Permutation test of the difference of means: how often a random split of all values differs at least as
// much. p = (1 + as extreme) / (1 + rounds) (Phipson and Smyth, 2010). Sums are exact; |value| <= 2^53,
// neither sample empty, at most 2^20 values in all.
TestResult permutation_test(std::span<const std::int64_t> a, std::span<const std::int64_t> b, int rounds,
                            Random& random);

}  // namespace rocetune
