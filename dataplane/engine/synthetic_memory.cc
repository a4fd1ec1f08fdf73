#include "dataplane/engine/synthetic_memory.h"

#include "dataplane/base/random.h"

namespace rocetune::engine {

std::byte SyntheticMemory::byte_of(std::uint64_t identity, std::uint64_t offset) {
  // One mixed word serves eight bytes.
  std::uint64_t state = identity + (offset / 8) * 0x9E3779B97F4A7C15;
  return static_cast<std::byte>(splitmix64(state) >> (8 * (offset % 8)) & 0xFF);
}

void SyntheticMemory::identify(MemoryKey region, std::uint64_t generation) {
  std::uint64_t state = owner_;
  state = splitmix64(state) ^ region.value();
  state = splitmix64(state) ^ generation;
  regions_[region.row()].generation = generation;
  regions_[region.row()].identity = splitmix64(state);
}

SyntheticContent SyntheticMemory::content_of(const PayloadReference& reference) const {
  return {regions_[reference.region.row()].identity, reference.offset, reference.length};
}

void SyntheticMemory::renew(MemoryKey region) { identify(region, regions_[region.row()].generation + 1); }

void SyntheticMemory::expect(MemoryKey region, std::uint64_t offset, const SyntheticContent& source) {
  regions_[region.row()].expected_offset = offset;
  regions_[region.row()].expected = source;
}

void SyntheticMemory::on_region(MemoryKey region, std::uint64_t, std::uint64_t) {
  regions_[region.row()] = {};
  identify(region, 0);
}

void SyntheticMemory::place(std::span<const Placement> placements) {
  for (const Placement& placement : placements) {
    const PayloadReference& to = placement.destination;
    Region& region = regions_[to.region.row()];
    const std::uint64_t begin = to.offset - region.expected_offset;  // within what is expected
    if (begin >= region.expected.length || to.length > region.expected.length - begin) {
      tally_.unexpected += to.length;
      continue;
    }
    const std::uint64_t identity = region.expected.identity;
    const std::uint64_t source = region.expected.offset + begin;
    if (placement.content != nullptr) {
      const bool is_right = *placement.content == SyntheticContent{identity, source, to.length};
      (is_right ? tally_.right : tally_.wrong) += to.length;
      region.right += is_right ? to.length : 0;
      continue;
    }
    for (std::uint32_t i = 0; i < to.length; ++i) {
      const bool is_right = placement.bytes[i] == byte_of(identity, source + i);
      ++(is_right ? tally_.right : tally_.wrong);
      region.right += is_right ? 1 : 0;
    }
  }
}

std::uint64_t SyntheticMemory::apply(const PayloadReference& where, const AtomicOperation& operation) {
  std::uint64_t& word = regions_[where.region.row()].word;
  const std::uint64_t original = word;
  if (operation.kind == AtomicOperation::Kind::fetch_add) {
    word += operation.swap_or_add;
  } else if (word == operation.compare) {
    word = operation.swap_or_add;
  }
  return original;
}

void SyntheticMemory::read(const PayloadReference& reference, wire::MutableBytes out) const {
  const std::uint64_t identity = regions_[reference.region.row()].identity;
  for (std::uint32_t i = 0; i < reference.length; ++i) out[i] = byte_of(identity, reference.offset + i);
}

}  // namespace rocetune::engine
