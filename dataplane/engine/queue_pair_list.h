// Queue pairs that wait for something, in the order in which they came: for their turn to send, for the port
// to let go of their memory. Nothing ever looks at the others.
#pragma once

#include <cstdint>
#include <vector>

namespace rocetune::engine {

class QueuePairList {
 public:
  explicit QueuePairList(std::uint32_t queue_pairs) : next_(queue_pairs, kUnlisted) {}
  bool is_empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  // To the end of the list; harmless if it is listed already.
  void push(std::uint32_t queue_pair) {
    if (next_[queue_pair] != kUnlisted) return;
    next_[queue_pair] = kEnd;
    (head_ == kEnd ? head_ : next_[tail_]) = queue_pair;
    tail_ = queue_pair;
    ++size_;
  }
  // The first one; the list must not be empty.
  std::uint32_t front() const { return head_; }
  std::uint32_t pop() {
    const std::uint32_t first = head_;
    head_ = next_[first];
    next_[first] = kUnlisted;
    --size_;
    return first;
  }

 private:
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  static constexpr std::uint32_t kUnlisted = 0xFFFFFFFE;
  std::vector<std::uint32_t> next_;
  std::uint32_t head_ = kEnd;
  std::uint32_t tail_ = kEnd;
  std::uint32_t size_ = 0;
};

}  // namespace rocetune::engine
