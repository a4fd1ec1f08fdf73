#include "dataplane/wire/crc32.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "dataplane/wire/crc32_tables.h"
#include "dataplane/wire/crc32_x86.h"

namespace rocetune::wire {
namespace {

using crc32::by_tables;
using crc32::load_little32;
using crc32::of_byte;
using crc32::of_word;

std::uint32_t copy_by_tables(std::uint32_t state, std::byte* to, ConstBytes from) {
  std::memcpy(to, from.data(), from.size());
  return by_tables(state, from);
}

std::uint32_t masked_by_tables(std::uint32_t state, ConstBytes bytes, const Crc32Mask& ones) {
  const std::byte* p = bytes.data();
  const std::byte* one = ones.data();
  std::size_t left = std::min(bytes.size(), kCrc32Mask);
  const auto word = [&](std::size_t at) { return load_little32(p + at) | load_little32(one + at); };
  for (; left >= 8; p += 8, one += 8, left -= 8) state = of_word(word(0) ^ state, 4) ^ of_word(word(4), 0);
  if (left >= 4) {
    state = of_word(word(0) ^ state, 0);
    p += 4;
    one += 4;
    left -= 4;
  }
  for (; left > 0; ++p, ++one, --left) state = of_byte(*p | *one, state);
  return by_tables(state, {p, bytes.data() + bytes.size()});
}

constexpr Crc32Method kTableMethod{"tables", true, &by_tables, &copy_by_tables, &masked_by_tables};

#if defined(__x86_64__)
std::vector<Crc32Method> all_methods() {
  std::vector<Crc32Method> all{kTableMethod};
  std::ranges::copy(crc32::x86_methods(), std::back_inserter(all));
  return all;
}
#else
std::vector<Crc32Method> all_methods() { return {kTableMethod}; }
#endif

// Constant-initialised, so that it also works while other files' statics are being made.
constinit std::atomic<const Crc32Method*> chosen{nullptr};
const Crc32Method& choose() {
  for (const Crc32Method& method : crc32_methods()) {
    if (method.usable) chosen.store(&method, std::memory_order_relaxed);
  }
  return *chosen.load(std::memory_order_relaxed);
}

}  // namespace

const Crc32Method& crc32_method() {
  const Crc32Method* method = chosen.load(std::memory_order_relaxed);
  return method != nullptr ? *method : choose();
}

std::uint32_t crc32_extend(std::uint32_t state, ConstBytes bytes) {
  return crc32_method().extend(state, bytes);
}
std::uint32_t crc32_extend(std::uint32_t state, const std::array<std::uint32_t, 3>& words) {
  return of_word(words[0] ^ state, 8) ^ of_word(words[1], 4) ^ of_word(words[2], 0);
}
std::uint32_t crc32_extend_masked(std::uint32_t state, ConstBytes bytes, const Crc32Mask& ones) {
  if (bytes.size() < kCrc32Mask) return masked_by_tables(state, bytes, ones);
  return crc32_method().masked(state, bytes, ones);
}

std::uint32_t crc32_copy(std::uint32_t state, MutableBytes to, ConstBytes from) {
  ROCETUNE_ASSERT(to.size() >= from.size());
  return crc32_method().copy(state, to.data(), from);
}

std::span<const Crc32Method> crc32_methods() {
  static const std::vector<Crc32Method> kMethods = all_methods();
  return kMethods;
}

std::array<std::uint32_t, 256> crc32_byte_at(unsigned zeros) {
  crc32::Table table = crc32::kFirst;
  for (unsigned i = 0; i < zeros; ++i) table = crc32::one_zero_later(table);
  return table;
}

}  // namespace rocetune::wire
