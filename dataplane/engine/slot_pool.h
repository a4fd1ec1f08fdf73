// Fixed slots that queues share. A queue is a chain of slots, so an empty one costs twelve bytes, and a slot
// just freed, still in cache, is the next one taken. Slots that were never needed cost no memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "congestion/units.h"
#include "dataplane/engine/untouched_array.h"

namespace rocetune::engine {

constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

// A first-in-first-out chain of slots of one pool.
struct SlotQueue {
  std::uint32_t head = kNoSlot;
  std::uint32_t tail = kNoSlot;
  std::uint32_t size = 0;
  bool is_empty() const { return size == 0; }
};

// A value that has room for the link of its chain in itself; nobody else touches that.
template <class T>
concept Chained = requires(T value) {
  { value.next } -> std::same_as<std::uint32_t&>;
};

template <class T>
class SlotPool {
 public:
  explicit SlotPool(std::uint32_t slots) : nodes_(slots), slots_(slots) {}
  bool is_exhausted() const { return free_ == kNoSlot && used_ == slots_; }
  T& operator[](std::uint32_t slot) { return value_of(nodes_[slot]); }
  const T& operator[](std::uint32_t slot) const { return value_of(nodes_[slot]); }
  // The slot behind `slot` in its queue.
  std::uint32_t next(std::uint32_t slot) const { return nodes_[slot].next; }

  // A slot at the end of `queue`, its content as it was left. The pool must not be exhausted.
  std::uint32_t push(SlotQueue& queue) {
    const std::uint32_t slot = take();
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
  struct Apart {
    T value;
    std::uint32_t next = kNoSlot;
  };
  using Node = std::conditional_t<Chained<T>, T, Apart>;
  template <class N>
  static auto& value_of(N& node) {
    if constexpr (Chained<T>) {
      return node;
    } else {
      return node.value;
    }
  }
  std::uint32_t take() {
    if (free_ == kNoSlot) {
      ROCETUNE_ASSERT(used_ < slots_);
      nodes_[used_] = Node{};
      return used_++;
    }
    const std::uint32_t slot = free_;
    free_ = nodes_[slot].next;
    return slot;
  }
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
  UntouchedArray<Node> nodes_;
  std::uint32_t slots_;
  std::uint32_t used_ = 0;  // the slots before it have been in a queue
  std::uint32_t free_ = kNoSlot;
};

}  // namespace rocetune::engine
