// Queue pairs by number: shard, generation, row. A number is looked up by its row and compared whole, so that
// frames for an earlier life of a row find nothing. Source: InfiniBand architecture specification, volume 1,
// section 10.3.1; numbers 0 and 1 are special (section 3.5.1).
#pragma once

#include <memory>
#include <vector>

#include "dataplane/engine/queue_pair.h"

namespace rocetune::engine {

class QueuePairTable {
 public:
  QueuePairTable(std::uint32_t rows, std::uint32_t shard, std::uint32_t shard_bits);

  std::uint32_t size() const { return size_; }
  bool is_full() const { return free_count_ == 0; }
  // A row with a fresh number, state created. The table must not be full.
  std::uint32_t take();
  void release(std::uint32_t row);
  // kNoSlot if the number is not in use.
  std::uint32_t row_of(wire::Qpn qpn) const {
    const std::uint32_t row = (qpn.value() & row_mask_) - kSpecial;
    if (row >= size_) return kNoSlot;
    const QueuePair& pair = pairs_[row];
    return pair.qpn == qpn && pair.state != QueuePairState::unused ? row : kNoSlot;
  }
  // The number, if it is one, is about to be looked up.
  void prefetch(wire::Qpn qpn) const {
    const std::uint32_t row = (qpn.value() & row_mask_) - kSpecial;
    if (row < size_) prefetch_row(row);
  }
  void prefetch_row(std::uint32_t row) const {
    const auto* line = reinterpret_cast<const char*>(pairs_.get() + row);
    for (std::size_t at = 0; at < sizeof(QueuePair); at += 64) __builtin_prefetch(line + at, 1);
    line = reinterpret_cast<const char*>(paths_.get() + row);
    for (std::size_t at = 0; at < sizeof(QueuePairPath); at += 64) __builtin_prefetch(line + at);
  }
  QueuePair& operator[](std::uint32_t row) { return pairs_[row]; }
  QueuePairPath& path(std::uint32_t row) { return paths_[row]; }

 private:
  static constexpr std::uint32_t kSpecial = 2;
  // Arrays without a size of their own: a row was checked when its number was looked up.
  std::unique_ptr<QueuePair[]> pairs_;
  std::unique_ptr<QueuePairPath[]> paths_;
  std::uint32_t size_;
  std::vector<std::uint32_t> free_;  // a ring: a row is used again as late as possible
  std::size_t free_head_ = 0;
  std::size_t free_count_ = 0;
  int row_bits_ = 0;
  std::uint32_t row_mask_ = 0;
  std::uint32_t generation_mask_ = 0;
  std::uint32_t shard_ = 0;  // in place
};

}  // namespace rocetune::engine
