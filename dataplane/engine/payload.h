// Payload by reference. The engine decides which bytes go where and never touches them itself; a
// PayloadAccess decides what a reference means: memory of this process, memory no CPU may read, or content
// that is only computed.
#pragma once

#include <cstdint>
#include <span>

#include "dataplane/wire/bytes.h"

namespace rocetune::engine {

// Names a memory region of one endpoint: lkey and rkey in one. Row of the region table (24 bits), then a tag
// that changes whenever the row is used again, so that a stale key is refused.
class MemoryKey {
 public:
  constexpr MemoryKey() = default;
  constexpr explicit MemoryKey(std::uint32_t value) : value_(value) {}
  constexpr MemoryKey(std::uint32_t row, std::uint8_t tag) : value_(row << 8 | tag) {}
  constexpr std::uint32_t value() const { return value_; }
  constexpr std::uint32_t row() const { return value_ >> 8; }
  friend constexpr bool operator==(MemoryKey, MemoryKey) = default;

 private:
  std::uint32_t value_ = 0;
};

// Some bytes of a region. Its bounds and permission were checked when it was made.
struct PayloadReference {
  MemoryKey region;
  std::uint32_t length = 0;  // bytes; 0: none
  std::uint64_t offset = 0;  // from the beginning of the region
  bool operator==(const PayloadReference&) const = default;
};

// Payload that exists only as a name: `length` bytes from `offset` of the content called `identity`. Two
// pieces are equal if all three are.
struct SyntheticContent {
  std::uint64_t identity = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  bool operator==(const SyntheticContent&) const = default;
};

// Received payload and the place where it belongs. Valid until place() returns.
struct Placement {
  PayloadReference destination;
  const std::byte* bytes = nullptr;           // destination.length of them, in the received frame
  const SyntheticContent* content = nullptr;  // instead of bytes
};

struct AtomicOperation {
  enum class Kind : std::uint8_t { compare_swap, fetch_add };
  Kind kind = Kind::compare_swap;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
};

// Called once per burst, not per packet. Every reference it is given lies inside a registered region.
class PayloadAccess {
 public:
  virtual ~PayloadAccess() = default;
  // Region `region` now names `length` bytes that begin at `address` as this process or device sees them.
  virtual void on_region(MemoryKey region, std::uint64_t address, std::uint64_t length) = 0;
  // Stores received payload, in order.
  virtual void place(std::span<const Placement> placements) = 0;
  // Eight bytes in this host's byte order; returns what they were. Atomic against this endpoint only, unless
  // the implementation says more.
  virtual std::uint64_t apply(const PayloadReference& where, const AtomicOperation& operation) = 0;
  // The bytes themselves where a CPU can read them, else null. Valid as long as the region is.
  virtual const std::byte* address_of(const PayloadReference& reference) const = 0;
  // Copies `reference` into `out` (of reference.length bytes): for emitters whose memory address_of() cannot
  // show.
  virtual void read(const PayloadReference& reference, wire::MutableBytes out) const = 0;
};

}  // namespace rocetune::engine
