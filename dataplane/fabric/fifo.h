// First in, first out, in one piece of memory; an empty one that never held anything costs none.
#pragma once

#include <vector>

#include "congestion/units.h"

namespace rocetune::fabric {

template <class T>
class Fifo {
 public:
  bool is_empty() const { return first_ == items_.size(); }
  // The oldest one; there must be one.
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  void push(const T& item) {
    if (items_.size() == items_.capacity()) drop_front();
    items_.push_back(item);
  }
  void pop() {
    ROCETUNE_ASSERT(!is_empty());
    if (++first_ == items_.size()) drop_front();
  }
  // Takes everything out of `items`.
  void append(std::vector<T>& items) {
    drop_front();
    if (items_.empty()) {
      items_.swap(items);
    } else {
      items_.insert(items_.end(), items.begin(), items.end());
      items.clear();
    }
  }

 private:
  // Forgets what was taken, unless more is left than that: an item moves no more than once on average.
  void drop_front() {
    if (2 * first_ < items_.size()) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  std::vector<T> items_;  // from first_ on
  std::size_t first_ = 0;
};

}  // namespace rocetune::fabric
