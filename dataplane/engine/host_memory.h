// Payload in memory of this process.
#pragma once

#include <vector>

#include "dataplane/engine/payload.h"

namespace rocetune::engine {

class HostMemory final : public PayloadAccess {
 public:
  // `regions`: rows of the endpoint's region table (EndpointOptions::memory_regions).
  explicit HostMemory(std::uint32_t regions) : bases_(regions) {}
  // RegionOptions::location for memory that begins at `bytes`.
  static std::uint64_t location_of(const void* bytes) { return reinterpret_cast<std::uintptr_t>(bytes); }

  void on_region(MemoryKey region, std::uint64_t location, std::uint64_t length) override;
  void place(std::span<const Placement> placements) override;
  // Atomic against every thread of this process that uses atomic instructions.
  std::uint64_t apply(const PayloadReference& where, const AtomicOperation& operation) override;
  const std::byte* address_of(const PayloadReference& reference) const override;
  void read(const PayloadReference& reference, wire::MutableBytes out) const override;

 private:
  std::byte* at(const PayloadReference& reference) const {
    return bases_[reference.region.row()] + reference.offset;
  }
  std::vector<std::byte*> bases_;
};

}  // namespace rocetune::engine
