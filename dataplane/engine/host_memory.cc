#include "dataplane/engine/host_memory.h"

#include <atomic>
#include <cstring>

#include "congestion/units.h"

namespace rocetune::engine {

void HostMemory::on_region(MemoryKey region, std::uint64_t location, std::uint64_t) {
  // A location is an address here: location_of() made it.
  const auto address = static_cast<std::uintptr_t>(location);
  bases_[region.row()] = reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

void HostMemory::place(std::span<const Placement> placements) {
  for (const Placement& placement : placements) {
    ROCETUNE_ASSERT(placement.bytes != nullptr);  // synthetic content has no place in real memory
    std::memcpy(at(placement.destination), placement.bytes, placement.destination.length);
  }
}

std::uint64_t HostMemory::apply(const PayloadReference& where, const AtomicOperation& operation) {
  auto* word = reinterpret_cast<std::uint64_t*>(at(where));
  ROCETUNE_ASSERT(reinterpret_cast<std::uintptr_t>(word) % alignof(std::uint64_t) == 0);
  std::atomic_ref<std::uint64_t> atomic(*word);
  if (operation.kind == AtomicOperation::Kind::fetch_add) return atomic.fetch_add(operation.swap_or_add);
  std::uint64_t seen = operation.compare;
  atomic.compare_exchange_strong(seen, operation.swap_or_add);
  return seen;
}

const std::byte* HostMemory::address_of(const PayloadReference& reference) const { return at(reference); }

void HostMemory::read(const PayloadReference& reference, wire::MutableBytes out) const {
  std::memcpy(out.data(), at(reference), reference.length);
}

}  // namespace rocetune::engine
