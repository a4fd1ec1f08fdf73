// CRC-32 of IEEE 802.3 (reflected polynomial 0xEDB88320), the one of the ICRC, zlib and gzip.
//
// The functions work on the raw register, so that a checksum can go on over pieces and from a state that was
// computed once: start with 0xFFFFFFFF and complement at the end for the usual value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "dataplane/wire/bytes.h"

namespace rocetune::wire {

constexpr std::uint32_t kCrc32Start = 0xFFFFFFFF;

// The register after `bytes`. The fastest way this processor has, chosen once per process.
std::uint32_t crc32_extend(std::uint32_t state, ConstBytes bytes);
// Copies `from` to the beginning of `to`, which must not overlap it, and returns the register after it: one
// pass over the bytes instead of two.
std::uint32_t crc32_copy(std::uint32_t state, MutableBytes to, ConstBytes from);
// The register after `bytes`, as if all bits of `ones` were set in their first 64 bytes; at least 64 bytes.
// What the ICRC needs of a header whose fields may change on the way.
constexpr std::size_t kCrc32Mask = 64;
using Crc32Mask = std::array<std::byte, kCrc32Mask>;
std::uint32_t crc32_extend_masked(std::uint32_t state, ConstBytes bytes, const Crc32Mask& ones);
// The register after twelve bytes, given as three little-endian words: a base transport header in one step.
std::uint32_t crc32_extend(std::uint32_t state, const std::array<std::uint32_t, 3>& words);

// One way to compute it. All give the same result.
struct Crc32Method {
  std::string_view name;
  bool usable;  // this processor can
  std::uint32_t (*extend)(std::uint32_t state, ConstBytes bytes);
  std::uint32_t (*copy)(std::uint32_t state, std::byte* to, ConstBytes from);
  // Of at least 64 bytes.
  std::uint32_t (*masked)(std::uint32_t state, ConstBytes bytes, const Crc32Mask& ones);
};
// Slowest first: tables (eight bytes a step), carry-less multiplication by 128, 256 and 512 bits.
std::span<const Crc32Method> crc32_methods();
// The one crc32_extend uses.
const Crc32Method& crc32_method();

// The remainder of one byte followed by `zeros` zero bytes, for all 256 bytes. CRC is linear: what a byte
// adds to the register does not depend on the others.
std::array<std::uint32_t, 256> crc32_byte_at(unsigned zeros);

}  // namespace rocetune::wire
