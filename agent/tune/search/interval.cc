#include "agent/tune/search/interval.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "dataplane/base/resampling.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

constexpr int kRounds = 2000;

// P(|T| <= t).
double student_within(int degrees, double t) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const double square = cosine * cosine;
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (int k = is_odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * (k - 1.0) / k;
    sum += term;
  }
  const double tail = std::sin(angle) * sum;
  return is_odd ? 2 / std::numbers::pi * (angle + tail) : tail;
}

double sample_mean(std::span<const double> values) {
  Moments moments;
  for (const double value : values) moments.add(value);
  return moments.mean();
}

}  // namespace

double student_quantile(int degrees, double confidence) {
  ROCETUNE_ASSERT(degrees >= 1 && confidence > 0 && confidence < 1);
  double low = 0;
  double high = 1;
  while (student_within(degrees, high) < confidence && high < 1e6) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_within(degrees, middle) < confidence ? low : high) = middle;
  }
  return high;
}

Interval mean_interval(std::span<const double> sample, double confidence, Random& random) {
  ROCETUNE_ASSERT(sample.size() >= 2);
  Moments moments;
  for (const double value : sample) moments.add(value);
  const double half = student_quantile(static_cast<int>(sample.size()) - 1, confidence) *
                      moments.standard_deviation() / std::sqrt(static_cast<double>(sample.size()));
  const ConfidenceInterval drawn =
      bootstrap(sample, sample_mean, Ratio(std::llround(confidence * Ratio::kOne)), kRounds, random);
  return {std::min(moments.mean() - half, drawn.low), moments.mean(),
          std::max(moments.mean() + half, drawn.high)};
}

std::optional<Interval> shift_interval(std::span<const double> sample, std::span<const double> others,
                                       double confidence) {
  const std::size_t m = sample.size();
  const std::size_t n = others.size();
  ROCETUNE_ASSERT(m >= 1 && n >= 1 && confidence > 0 && confidence < 1);
  // ways[i][u]: arrangements of i of the sample among the others so far that have U = u.
  std::vector<std::vector<double>> ways(m + 1, std::vector<double>(m * n + 1, 0));
  ways[0][0] = 1;
  for (std::size_t place = 1; place <= m + n; ++place) {
    for (std::size_t i = std::min(place, m); i >= 1; --i) {
      const std::size_t below = place - i;  // others before this one
      if (below > n) continue;
      for (std::size_t u = m * n + 1; u-- > below;) ways[i][u] += ways[i - 1][u - below];
    }
  }
  double all = 0;
  for (const double count : ways[m]) all += count;
  std::size_t cut = 0;  // differences outside on each side
  for (double sum = 0; cut < m * n; ++cut) {
    sum += ways[m][cut];
    if (sum > all * (1 - confidence) / 2 * (1 + 1e-9)) break;
  }
  if (cut == 0) return std::nullopt;
  std::vector<double> differences;
  for (const double a : sample) {
    for (const double b : others) differences.push_back(a - b);
  }
  std::ranges::sort(differences);
  return Interval{differences[cut - 1], median(differences), differences[m * n - cut]};
}

double percent_of(double score) { return 100 * std::expm1(score); }
Interval percent_of(const Interval& score) {
  return {percent_of(score.low), percent_of(score.mid), percent_of(score.high)};
}
double score_of_percent(double percent) { return std::log1p(percent / 100); }

}  // namespace rocetune::search
