#include "dataplane/engine/memory_region.h"

#include <numeric>

namespace rocetune::engine {
namespace {
constexpr std::uint32_t kMaxRows = std::uint32_t{1} << 24;
constexpr std::uint64_t kMaxLength = std::uint64_t{1} << 48;
constexpr std::uint8_t kAllAccess = kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic;
}  // namespace

RegionTable::RegionTable(std::uint32_t rows, PayloadAccess& access)
    : rows_(rows), free_(rows), free_count_(rows), access_(&access) {
  ROCETUNE_ASSERT(rows > 0 && rows <= kMaxRows);
  std::iota(free_.begin(), free_.end(), 0U);
  // Tag 1 first: no key of a fresh table is 0, the value people leave in a forgotten field.
  for (std::uint32_t row = 0; row < rows; ++row) rows_[row].key = MemoryKey(row, 1);
}

Expected<MemoryKey> RegionTable::add(const RegionOptions& options) {
  if (options.length == 0 || options.length > kMaxLength ||
      options.address > UINT64_MAX - (options.length - 1)) {
    return fail(ErrorKind::bad_input,
                "a memory region of {} bytes at {:#x}; allowed: 1 byte to 2^48, below 2^64", options.length,
                options.address);
  }
  if ((options.access & ~kAllAccess) != 0) {
    return fail(ErrorKind::bad_input, "memory region: unknown access bits {:#x}", options.access);
  }
  if ((options.access & (kRemoteWrite | kRemoteAtomic)) != 0 && (options.access & kLocalWrite) == 0) {
    return fail(ErrorKind::bad_input, "a memory region with remote write or atomic access needs local write");
  }
  if (free_count_ == 0) return fail(ErrorKind::conflict, "all {} memory regions are in use", rows_.size());
  Row& row = rows_[free_[free_head_]];
  free_head_ = (free_head_ + 1) % free_.size();
  --free_count_;
  row.address = options.address;
  row.length = options.length;
  row.access = options.access;
  row.in_use = true;
  access_->on_region(row.key, options.location, options.length);
  return row.key;
}

Expected<> RegionTable::remove(MemoryKey key) {
  if (!is_valid(key)) return fail(ErrorKind::absent, "no memory region has the key {:#x}", key.value());
  Row& row = rows_[key.row()];
  row.in_use = false;
  row.key = MemoryKey(key.row(), static_cast<std::uint8_t>(key.value() + 1));
  free_[(free_head_ + free_count_) % free_.size()] = key.row();
  ++free_count_;
  return {};
}

}  // namespace rocetune::engine
