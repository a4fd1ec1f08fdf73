#include "dataplane/transport/soft/memory_block.h"

#include <sys/mman.h>

#include <cerrno>

namespace rocetune::soft {

Expected<MemoryBlock> MemoryBlock::allocate(Bytes size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t rounded =
      (static_cast<std::size_t>(size.count()) + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail_os(errno, "{} of memory", to_text(size));
  // Only a wish: without it the same memory is slower.
  (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  return MemoryBlock({static_cast<std::byte*>(memory), rounded});
}

MemoryBlock::~MemoryBlock() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace rocetune::soft
