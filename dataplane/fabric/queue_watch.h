// How long a queue was, over time: every length counts for as long as it lasted.
#pragma once

#include <algorithm>
#include <vector>

#include "congestion/fixed_point.h"
#include "congestion/units.h"

namespace rocetune::fabric {

class QueueWatch {
 public:
  // The queue is `bytes` long from `now` on.
  void on_length(Instant now, std::int64_t bytes) {
    close(now);
    bytes_ = bytes;
    most_ = std::max(most_, bytes);
  }
  // Forgets everything up to `now`.
  void restart(Instant now) {
    spans_.clear();
    byte_time_ = 0;
    since_ = begin_ = now;
    most_ = bytes_;
  }
  // Both up to `now`, which is not before the last change; 0 if no time has passed.
  double mean_bytes(Instant now) {
    close(now);
    const double span = static_cast<double>((now - begin_).count());
    return span > 0 ? static_cast<double>(byte_time_) / span : 0;
  }
  // The least length, to kStep, that the queue did not exceed for `share` of the time.
  std::int64_t percentile(Instant now, double share) {
    close(now);
    const double wanted = share * static_cast<double>((now - begin_).count());
    double sum = 0;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      sum += static_cast<double>(spans_[i]);
      if (sum >= wanted) return std::min(static_cast<std::int64_t>(i + 1) * kStep, most_);
    }
    return most_;
  }
  std::int64_t most_bytes() const { return most_; }

 private:
  static constexpr std::int64_t kStep = 1024;
  void close(Instant now) {
    const std::int64_t span = (now - since_).count();
    if (span <= 0) return;
    const auto step = static_cast<std::size_t>(bytes_ / kStep);
    if (step >= spans_.size()) grow(step);
    spans_[step] += span;
    byte_time_ += Wide(bytes_) * span;
    since_ = now;
  }
  // There are many, and most queues only once reach the length that they never exceed: little to spare.
  void grow(std::size_t step) {
    if (step >= spans_.capacity()) spans_.reserve(step + step / 8 + 4);
    spans_.resize(step + 1);
  }
  std::vector<std::int64_t> spans_;  // picoseconds, by length / kStep
  Wide byte_time_ = 0;               // bytes x picoseconds
  Instant begin_;
  Instant since_;
  std::int64_t bytes_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace rocetune::fabric
