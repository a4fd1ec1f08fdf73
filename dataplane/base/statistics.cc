#include "dataplane/base/statistics.h"

#include <algorithm>
#include <cmath>

#include "congestion/fixed_point.h"

namespace rocetune {

namespace {}

std::int64_t nearest_rank(std::span<const std::int64_t> sorted, Ratio p) {
  ROCETUNE_ASSERT(!sorted.empty() && p >= Ratio() && p <= Ratio::one());
  const Wide scaled = Wide(p.count()) * Wide(sorted.size());
  const auto rank = static_cast<std::size_t>((scaled + Ratio::kOne - 1) / Ratio::kOne);
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<std::int64_t> nearest_ranks(std::vector<std::int64_t> sample,
                                        std::span<const Ratio> percentiles) {
  std::sort(sample.begin(), sample.end());
  std::vector<std::int64_t> out;
  for (const Ratio p : percentiles) out.push_back(nearest_rank(sample, p));
  return out;
}

double interpolated(std::span<const double> sorted, Ratio p) {
  ROCETUNE_ASSERT(!sorted.empty() && p >= Ratio() && p <= Ratio::one());
  const Wide scaled = Wide(p.count()) * Wide(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(scaled / Ratio::kOne);
  const double part =
      static_cast<double>(static_cast<std::int64_t>(scaled % Ratio::kOne)) / static_cast<double>(Ratio::kOne);
  if (part == 0) return sorted[below];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double median(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  return interpolated(sample, Ratio::from_percent(50));
}

double median_absolute_deviation(std::vector<double> sample) {
  const double middle = median(sample);
  for (double& x : sample) x = std::abs(x - middle);
  return median(std::move(sample));
}

double jain_fairness(std::span<const double> shares) {
  ROCETUNE_ASSERT(!shares.empty());
  // Relative to the largest, so that squares neither overflow nor vanish.
  const double largest = *std::max_element(shares.begin(), shares.end());
  if (largest <= 0) return 1;
  double sum = 0;
  double squares = 0;
  for (const double share : shares) {
    const double x = share / largest;
    sum += x;
    squares += x * x;
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

void Moments::add(double x) {
  ++count_;
  const double before = x - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (x - mean_);
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  const auto n = static_cast<double>(count_);
  const auto m = static_cast<double>(other.count_);
  const double difference = other.mean_ - mean_;
  mean_ += difference * m / (n + m);
  squares_ += other.squares_ + difference * difference * n * m / (n + m);
  count_ += other.count_;
}

double Moments::variance() const { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }
double Moments::standard_deviation() const { return std::sqrt(variance()); }

void PooledVariance::add(double variance, double degrees) {
  if (degrees <= 0) return;
  squares_ += degrees * variance;
  degrees_ += degrees;
}

}  // namespace rocetune
