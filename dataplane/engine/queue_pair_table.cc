#include "dataplane/engine/queue_pair_table.h"

#include <bit>
#include <numeric>

namespace rocetune::engine {
namespace {
constexpr int kQpnBits = 24;
}

QueuePairTable::QueuePairTable(std::uint32_t rows, std::uint32_t shard, std::uint32_t shard_bits)
    : pairs_(std::make_unique<QueuePair[]>(rows)),
      paths_(std::make_unique<QueuePairPath[]>(rows)),
      size_(rows),
      free_(rows),
      free_count_(rows) {
  ROCETUNE_ASSERT(rows > 0 && rows <= (std::uint32_t{1} << 20) - kSpecial);
  ROCETUNE_ASSERT(shard_bits <= 4 && shard < std::uint32_t{1} << shard_bits);
  std::iota(free_.begin(), free_.end(), 0U);
  row_bits_ = std::bit_width(rows + kSpecial - 1);
  const int generation_bits = kQpnBits - static_cast<int>(shard_bits) - row_bits_;
  ROCETUNE_ASSERT(generation_bits >= 0);
  row_mask_ = (std::uint32_t{1} << row_bits_) - 1;
  generation_mask_ = (std::uint32_t{1} << generation_bits) - 1;
  shard_ = shard << (kQpnBits - static_cast<int>(shard_bits));
  for (std::uint32_t row = 0; row < rows; ++row) pairs_[row].qpn = wire::Qpn(shard_ | (row + kSpecial));
}

std::uint32_t QueuePairTable::take() {
  ROCETUNE_ASSERT(!is_full());
  const std::uint32_t row = free_[free_head_];
  free_head_ = free_head_ + 1 == free_.size() ? 0 : free_head_ + 1;
  --free_count_;
  pairs_[row].state = QueuePairState::created;
  return row;
}

void QueuePairTable::release(std::uint32_t row) {
  const std::uint32_t generation = pairs_[row].qpn.value() >> row_bits_ & generation_mask_;
  pairs_[row] = QueuePair{};
  paths_[row] = QueuePairPath{};
  pairs_[row].qpn = wire::Qpn(shard_ | ((generation + 1) & generation_mask_) << row_bits_ | (row + kSpecial));
  free_[(free_head_ + free_count_) % free_.size()] = row;
  ++free_count_;
}

}  // namespace rocetune::engine
