// Reading and writing big-endian fields at a place the caller has checked.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace rocetune::wire {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// A view of exactly N bytes at `offset`; the caller has made sure that they are there (std::span asserts).
template <std::size_t N>
constexpr std::span<const std::byte, N> fixed(ConstBytes bytes, std::size_t offset = 0) {
  return bytes.subspan(offset).first<N>();
}
template <std::size_t N>
constexpr std::span<std::byte, N> fixed(MutableBytes bytes, std::size_t offset = 0) {
  return bytes.subspan(offset).first<N>();
}

constexpr std::uint8_t load8(ConstBytes b, std::size_t at) { return std::to_integer<std::uint8_t>(b[at]); }

namespace detail {
// One check of the bounds and one access: a loop over bytes would check each of them.
template <std::unsigned_integral T>
constexpr T load_big(ConstBytes b, std::size_t at) {
  const ConstBytes field = b.subspan(at).first(sizeof(T));
  T value = 0;
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value << 8 | std::to_integer<T>(field[i]));
    return value;
  }
  std::memcpy(&value, field.data(), sizeof(T));
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}
template <std::unsigned_integral T>
constexpr void store_big(MutableBytes b, std::size_t at, T value) {
  const MutableBytes field = b.subspan(at).first(sizeof(T));
  if (std::is_constant_evaluated()) {
    for (std::size_t i = sizeof(T); i-- > 0; value = static_cast<T>(value >> 8)) {
      field[i] = static_cast<std::byte>(value & 0xFF);
    }
    return;
  }
  if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
  std::memcpy(field.data(), &value, sizeof(T));
}
static_assert(std::endian::native == std::endian::little);
}  // namespace detail

constexpr std::uint16_t load16(ConstBytes b, std::size_t at) {
  return detail::load_big<std::uint16_t>(b, at);
}
constexpr std::uint32_t load24(ConstBytes b, std::size_t at) {
  return std::uint32_t{load16(b, at)} << 8 | load8(b, at + 2);
}
constexpr std::uint32_t load32(ConstBytes b, std::size_t at) {
  return detail::load_big<std::uint32_t>(b, at);
}
constexpr std::uint64_t load64(ConstBytes b, std::size_t at) {
  return detail::load_big<std::uint64_t>(b, at);
}

constexpr void store8(MutableBytes b, std::size_t at, std::integral auto v) {
  b[at] = static_cast<std::byte>(v & 0xFF);
}
constexpr void store16(MutableBytes b, std::size_t at, std::uint16_t v) { detail::store_big(b, at, v); }
constexpr void store24(MutableBytes b, std::size_t at, std::uint32_t v) {
  store8(b, at, v >> 16);
  store16(b, at + 1, static_cast<std::uint16_t>(v));
}
constexpr void store32(MutableBytes b, std::size_t at, std::uint32_t v) { detail::store_big(b, at, v); }
constexpr void store64(MutableBytes b, std::size_t at, std::uint64_t v) { detail::store_big(b, at, v); }

}  // namespace rocetune::wire
