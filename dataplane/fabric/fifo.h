// First in, first out, in one piece of memory: a ring that grows. An empty one that never held anything costs
// none.
#pragma once

#include <algorithm>
#include <memory>

#include "congestion/units.h"

namespace rocetune::fabric {

template <class T>
class Fifo {
 public:
  bool is_empty() const { return first_ == end_; }
  // The oldest one; there must be one.
  T& front() { return items_[first_ & mask_]; }
  const T& front() const { return items_[first_ & mask_]; }
  void push(const T& item) {
    if (end_ - first_ == capacity_) grow();
    items_[end_++ & mask_] = item;
  }
  void pop() {
    ROCETUNE_ASSERT(!is_empty());
    ++first_;
  }

 private:
  static constexpr std::uint32_t kFewest = 4;
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 31;
  void grow() {
    ROCETUNE_ASSERT(capacity_ < kMost);
    const std::uint32_t larger = std::max(2 * capacity_, kFewest);
    auto items = std::make_unique<T[]>(larger);
    for (std::uint32_t i = 0; i < capacity_; ++i) items[i] = items_[(first_ + i) & mask_];
    items_ = std::move(items);
    first_ = 0;
    end_ = capacity_;
    capacity_ = larger;
    mask_ = larger - 1;
  }
  std::unique_ptr<T[]> items_;  // capacity_ of them: none, or a power of two
  std::uint32_t capacity_ = 0;
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;  // place of the oldest, without end; and behind the newest
  std::uint32_t end_ = 0;
};

}  // namespace rocetune::fabric
