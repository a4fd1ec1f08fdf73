// Payload that is computed: every byte is a function of region, generation and offset. A transfer of any size
// costs no memory, and the receiver can still tell whether each byte is the right one in the right place.
#pragma once

#include <vector>

#include "dataplane/engine/payload.h"

namespace rocetune::engine {

class SyntheticMemory final : public PayloadAccess {
 public:
  // `regions`: rows of the endpoint's region table. `owner`: tells the contents of several endpoints apart.
  SyntheticMemory(std::uint32_t regions, std::uint64_t owner) : regions_(regions), owner_(owner) {}

  // The content's name for frames that carry names instead of bytes.
  SyntheticContent content_of(const PayloadReference& reference) const;
  // Every byte of the region is another one from now on: a buffer that is filled anew.
  void renew(MemoryKey region);
  // What is placed into `length` bytes from `offset` of `region` has to be that many bytes of `source`.
  // Replaces what was expected there; one expectation per region.
  void expect(MemoryKey region, std::uint64_t offset, const SyntheticContent& source);

  struct Tally {
    std::uint64_t right = 0;       // bytes that were expected where they were placed
    std::uint64_t wrong = 0;       // bytes of an expected place that are others
    std::uint64_t unexpected = 0;  // bytes outside what is expected
    bool operator==(const Tally&) const = default;
  };
  const Tally& tally() const { return tally_; }
  // Of Tally::right, those of one region.
  std::uint64_t right_bytes(MemoryKey region) const { return regions_[region.row()].right; }

  void on_region(MemoryKey region, std::uint64_t location, std::uint64_t length) override;
  void place(std::span<const Placement> placements) override;
  // The word is kept in the region's one cell, whatever the offset.
  std::uint64_t apply(const PayloadReference& where, const AtomicOperation& operation) override;
  const std::byte* address_of(const PayloadReference&) const override { return nullptr; }
  void read(const PayloadReference& reference, wire::MutableBytes out) const override;

  // Byte `offset` of the content called `identity`.
  static std::byte byte_of(std::uint64_t identity, std::uint64_t offset);

 private:
  struct Region {
    std::uint64_t generation = 0;
    std::uint64_t identity = 0;  // of its content now
    std::uint64_t word = 0;
    std::uint64_t expected_offset = 0;
    std::uint64_t right = 0;
    SyntheticContent expected;
  };
  void identify(MemoryKey region, std::uint64_t generation);

  std::vector<Region> regions_;
  std::uint64_t owner_;
  Tally tally_;
};

}  // namespace rocetune::engine
