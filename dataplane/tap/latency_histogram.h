// Durations in logarithmic buckets: 32 per doubling, so that a quantile is right to 3 %. Grows with the
// largest sample seen and not with their number.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "congestion/units.h"
#include "dataplane/tap/facts.h"

namespace rocetune::tap {

class LatencyHistogram {
 public:
  // Negative durations (time stamps that ran backwards) count as zero.
  void add(Duration sample) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(sample / nanoseconds(1), 0));
    const std::size_t bucket = bucket_of(ns);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
    max_ns_ = std::max(max_ns_, ns);
    ++count_;
  }
  std::int64_t count() const { return count_; }

  std::optional<LatencySummary> summary() const {
    if (count_ == 0) return std::nullopt;
    return LatencySummary{.samples = count_,
                          .min_us = static_cast<double>(min_ns_) / 1e3,
                          .median_us = quantile_us(50),
                          .p99_us = quantile_us(99),
                          .max_us = static_cast<double>(max_ns_) / 1e3};
  }

 private:
  static constexpr int kSubBits = 5;
  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < (1U << kSubBits)) return ns;
    const int shift = static_cast<int>(std::bit_width(ns)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift + 1) << kSubBits) + ((ns >> shift) & ((1U << kSubBits) - 1));
  }
  // The middle of a bucket.
  static double value_of(std::size_t bucket) {
    if (bucket < (1U << kSubBits)) return static_cast<double>(bucket);
    const auto shift = static_cast<int>(bucket >> kSubBits) - 1;
    const std::uint64_t low = ((1U << kSubBits) + (bucket & ((1U << kSubBits) - 1))) << shift;
    return static_cast<double>(low) + static_cast<double>(std::uint64_t{1} << shift) / 2;
  }
  double quantile_us(int percent) const {
    const std::int64_t rank = (count_ * percent + 99) / 100;  // of 1..count
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= rank) {
        return std::clamp(value_of(i), static_cast<double>(min_ns_), static_cast<double>(max_ns_)) / 1e3;
      }
    }
    return static_cast<double>(max_ns_) / 1e3;
  }

  std::vector<std::int64_t> buckets_;
  std::int64_t count_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace rocetune::tap
