// Fixed slots that queues share. A queue is a chain of slots, so an empty one costs twelve bytes, and a slot
// just freed, still in cache, is the next one taken.
#pragma once

#include <cstdint>
#include <memory>

#include "congestion/units.h"

namespace rocetune::engine {

constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

// A first-in-first-out chain of slots of one pool.
struct SlotQueue {
  std::uint32_t head = kNoSlot;
  std::uint32_t tail = kNoSlot;
  std::uint32_t size = 0;
  bool is_empty() const { return size == 0; }
};

template <class T>
class SlotPool {
 public:
  explicit SlotPool(std::uint32_t slots) : nodes_(std::make_unique<Node[]>(slots)) {
    for (std::uint32_t i = 0; i < slots; ++i) nodes_[i].next = i + 1 < slots ? i + 1 : kNoSlot;
    free_ = slots > 0 ? 0 : kNoSlot;
  }
  bool is_exhausted() const { return free_ == kNoSlot; }
  T& operator[](std::uint32_t slot) { return nodes_[slot].value; }
  const T& operator[](std::uint32_t slot) const { return nodes_[slot].value; }
  // The slot behind `slot` in its queue.
  std::uint32_t next(std::uint32_t slot) const { return nodes_[slot].next; }

  // A slot at the end of `queue`, its content as it was left. The pool must not be exhausted.
  std::uint32_t push(SlotQueue& queue) {
    const std::uint32_t slot = free_;
    ROCETUNE_ASSERT(slot != kNoSlot);
    free_ = nodes_[slot].next;
    append(queue, slot);
    return slot;
  }
  // Frees the slot behind `before` (the first one if kNoSlot) of `queue`, which must be there.
  void pop(SlotQueue& queue, std::uint32_t before = kNoSlot) {
    const std::uint32_t slot = detach(queue, before);
    nodes_[slot].next = free_;
    free_ = slot;
  }
  // Moves the slot behind `before` (the first one if kNoSlot) of `from` to the end of `to`.
  void move(SlotQueue& from, std::uint32_t before, SlotQueue& to) { append(to, detach(from, before)); }
  void clear(SlotQueue& queue) {
    while (!queue.is_empty()) pop(queue);
  }

 private:
  struct Node {
    T value;
    std::uint32_t next = kNoSlot;
  };
  void append(SlotQueue& queue, std::uint32_t slot) {
    nodes_[slot].next = kNoSlot;
    if (queue.is_empty()) {
      queue.head = slot;
    } else {
      nodes_[queue.tail].next = slot;
    }
    queue.tail = slot;
    ++queue.size;
  }
  std::uint32_t detach(SlotQueue& queue, std::uint32_t before) {
    ROCETUNE_ASSERT(!queue.is_empty());
    std::uint32_t& link = before == kNoSlot ? queue.head : nodes_[before].next;
    const std::uint32_t slot = link;
    link = nodes_[slot].next;
    if (queue.tail == slot) queue.tail = before;
    --queue.size;
    return slot;
  }
  // An array without a size to look up: a slot's number comes from this pool alone.
  std::unique_ptr<Node[]> nodes_;
  std::uint32_t free_ = kNoSlot;
};

}  // namespace rocetune::engine
