// Summaries of samples. What decides anything (a percentile, a median of integers) is exact integer
// arithmetic; what is only shown is double. An empty sample has no summary: programmer's mistake.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "congestion/units.h"

namespace rocetune {

// Nearest-rank percentile: element number ceil(p × n), counting from 1, of the sorted sample; p = 0 is the
// smallest. Always a value that was measured. `sorted` ascending, not empty; 0 <= p <= 1.
std::int64_t nearest_rank(std::span<const std::int64_t> sorted, Ratio p);
// The same for several percentiles of an unsorted sample.
std::vector<std::int64_t> nearest_ranks(std::vector<std::int64_t> sample, std::span<const Ratio> percentiles);

// Percentile by linear interpolation between order statistics h = (n - 1) p: definition 7 of Hyndman and Fan,
// "Sample Quantiles in Statistical Packages", The American Statistician 50(4), 1996 (R's and NumPy's
// default).
double interpolated(std::span<const double> sorted, Ratio p);
// The middle, or the mean of the two middle values.
double median(std::vector<double> sample);
// Median absolute deviation: median of |x - median|. Unscaled: times 1.4826 it estimates the standard
// deviation of normal data (Rousseeuw and Croux, JASA 88, 1993).
double median_absolute_deviation(std::vector<double> sample);

// Jain's fairness (sum x)^2 / (n × sum x^2): 1/n (one takes all) to 1 (all equal); 1 if all are 0. Jain,
// Chiu, Hawe, DEC-TR-301, 1984.
double jain_fairness(std::span<const double> shares);

// Count, mean and variance of a stream without keeping it (Welford, Technometrics 4(3), 1962; merging: Chan,
// Golub, LeVeque, 1979).
class Moments {
 public:
  void add(double x);
  void merge(const Moments& other);
  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }
  // Of the population the sample is drawn from (divisor n - 1); 0 for fewer than two values.
  double variance() const;
  double standard_deviation() const;

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared differences from the mean
};

// Variance within groups that have means of their own: that of each weighs by its degrees of freedom.
class PooledVariance {
 public:
  void add(const Moments& group) { add(group.variance(), static_cast<double>(group.count()) - 1); }
  void add(double variance, double degrees);
  double degrees() const { return degrees_; }
  // 0 without degrees of freedom.
  double variance() const { return degrees_ > 0 ? squares_ / degrees_ : 0; }

 private:
  double squares_ = 0;
  double degrees_ = 0;
};

}  // namespace rocetune
