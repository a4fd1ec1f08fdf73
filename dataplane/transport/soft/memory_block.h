// Memory that queue pairs send from and receive into.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "dataplane/base/error.h"

namespace rocetune::soft {

// Pages of this process, zero, in transparent huge pages where the kernel has them.
class MemoryBlock {
 public:
  // Error: io. `size` at least 1 byte.
  static Expected<MemoryBlock> allocate(Bytes size);
  MemoryBlock() = default;
  MemoryBlock(MemoryBlock&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryBlock();
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit MemoryBlock(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace rocetune::soft
