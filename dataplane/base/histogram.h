// Counts values in buckets whose width grows with the value, so that every percentile has a bounded relative
// error: log-linear, as in HdrHistogram (https://hdrhistogram.org). For latencies by the million.
#pragma once

#include <cstdint>
#include <vector>

#include "congestion/units.h"

namespace rocetune {

class Histogram {
 public:
  // Values are told apart to one part in 2^bits: below 2^(bits+1) exactly, above in 2^bits buckets a
  // doubling. 1 <= bits <= 14; 7 is 0.8 %, and at most 58 KiB.
  explicit Histogram(int bits = 7);

  void add(std::uint64_t value, std::uint64_t times = 1);
  // Of the same `bits`.
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  // Exact. The histogram must not be empty.
  std::uint64_t min() const;
  std::uint64_t max() const;
  double mean() const;
  // Nearest rank: the upper end of the bucket that holds element ceil(p × count), but not above max(). At
  // least the true value, and less than 1 + 2^-bits of it. 0 <= p <= 1.
  std::uint64_t percentile(Ratio p) const;

 private:
  std::size_t index_of(std::uint64_t value) const;
  std::uint64_t upper_end(std::size_t index) const;

  int bits_;
  std::vector<std::uint64_t> counts_;  // grows to the largest bucket used
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace rocetune
