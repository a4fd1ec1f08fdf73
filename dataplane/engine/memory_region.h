// Memory regions: what may be read and written, by whom. Source: InfiniBand architecture specification,
// volume 1, sections 10.6 and 9.7.4.1.5 (R_Key checks).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/engine/payload.h"

namespace rocetune::engine {

// What a region allows: any of these bits. Local reading is always allowed.
constexpr std::uint8_t kLocalWrite = 1 << 0;  // receives, READ and atomic results land in it
constexpr std::uint8_t kRemoteRead = 1 << 1;
constexpr std::uint8_t kRemoteWrite = 1 << 2;
constexpr std::uint8_t kRemoteAtomic = 1 << 3;

// Some bytes of the endpoint's own memory, as its user names them: a key and an address inside the region.
struct Buffer {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  MemoryKey key;
};

// A region as its owner registers it.
struct RegionOptions {
  std::uint64_t address = 0;   // what requests call its first byte; needs no relation to where it lies
  std::uint64_t length = 0;    // 1 byte to 2^48
  std::uint8_t access = 0;     // of those bits; remote write and atomic need local write
  std::uint64_t location = 0;  // where the bytes are, in the PayloadAccess' own terms (a pointer)
};

class RegionTable {
 public:
  RegionTable(std::uint32_t rows, PayloadAccess& access);

  // Errors: bad_input (length, access), conflict (no free row).
  Expected<MemoryKey> add(const RegionOptions& options);
  // The key is refused from now on. Frames already handed out may still refer to its bytes: see
  // Endpoint::is_referenced. Error: absent.
  Expected<> remove(MemoryKey key);
  // The bytes [address, address + length) of the region, if key, bounds and all of `needs` allow.
  std::optional<PayloadReference> resolve(MemoryKey key, std::uint64_t address, std::uint32_t length,
                                          std::uint8_t needs) const {
    if (key.row() >= rows_.size()) return std::nullopt;
    const Row& row = rows_[key.row()];
    const std::uint64_t offset = address - row.address;
    if (row.key != key || !row.in_use || offset > row.length || length > row.length - offset ||
        (row.access & needs) != needs) {
      return std::nullopt;
    }
    return PayloadReference{key, length, offset};
  }
  bool is_valid(MemoryKey key) const {
    return key.row() < rows_.size() && rows_[key.row()].key == key && rows_[key.row()].in_use;
  }
  // Whether the peer may do anything with it.
  bool is_remote(MemoryKey key) const {
    return is_valid(key) && (rows_[key.row()].access & (kRemoteRead | kRemoteWrite | kRemoteAtomic)) != 0;
  }
  // A frame with this ticket refers to the region.
  void note_use(MemoryKey key, std::uint64_t ticket) { rows_[key.row()].last_ticket = ticket; }
  // Ticket of the last frame that referred to the row of `key`, even if the key is gone.
  std::uint64_t last_ticket(MemoryKey key) const {
    return key.row() < rows_.size() ? rows_[key.row()].last_ticket : 0;
  }

 private:
  struct Row {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::uint64_t last_ticket = 0;
    MemoryKey key;
    std::uint8_t access = 0;
    bool in_use = false;
  };
  std::vector<Row> rows_;
  std::vector<std::uint32_t> free_;  // a ring: a row is used again as late as possible
  std::size_t free_head_ = 0;
  std::size_t free_count_ = 0;
  PayloadAccess* access_;
};

}  // namespace rocetune::engine
