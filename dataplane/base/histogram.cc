#include "dataplane/base/histogram.h"

#include <algorithm>
#include <bit>

#include "congestion/fixed_point.h"

namespace rocetune {

Histogram::Histogram(int bits) : bits_(bits) { ROCETUNE_ASSERT(bits >= 1 && bits <= 14); }

// Octave 0 holds values of up to bits + 1 bits one by one. A longer value loses its lowest `octave` bits,
// which leaves bits + 1 of them, the highest set: 2^bits buckets an octave.
std::size_t Histogram::index_of(std::uint64_t value) const {
  const int octave = std::max(static_cast<int>(std::bit_width(value)) - bits_ - 1, 0);
  return (static_cast<std::size_t>(octave) << bits_) + static_cast<std::size_t>(value >> octave);
}

std::uint64_t Histogram::upper_end(std::size_t index) const {
  const std::size_t per_octave = std::size_t{1} << bits_;
  if (index < 2 * per_octave) return index;
  const std::size_t octave = index / per_octave - 1;
  const std::uint64_t kept = index - octave * per_octave;
  return (kept << octave) + ((std::uint64_t{1} << octave) - 1);
}

void Histogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  const std::size_t index = index_of(value);
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void Histogram::merge(const Histogram& other) {
  ROCETUNE_ASSERT(bits_ == other.bits_);
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

std::uint64_t Histogram::min() const {
  ROCETUNE_ASSERT(count_ > 0);
  return min_;
}

std::uint64_t Histogram::max() const {
  ROCETUNE_ASSERT(count_ > 0);
  return max_;
}

double Histogram::mean() const {
  ROCETUNE_ASSERT(count_ > 0);
  return sum_ / static_cast<double>(count_);
}

std::uint64_t Histogram::percentile(Ratio p) const {
  ROCETUNE_ASSERT(count_ > 0 && p >= Ratio() && p <= Ratio::one());
  const UnsignedWide scaled = UnsignedWide(static_cast<std::uint64_t>(p.count())) * count_;
  const auto rank =
      std::max<std::uint64_t>(static_cast<std::uint64_t>((scaled + Ratio::kOne - 1) / Ratio::kOne), 1);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(upper_end(i), min_, max_);
  }
  return max_;
}

}  // namespace rocetune
