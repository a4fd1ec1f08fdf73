// Reading and writing big-endian fields at a place the caller has checked.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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
constexpr std::uint16_t load16(ConstBytes b, std::size_t at) {
  return static_cast<std::uint16_t>(load8(b, at) << 8 | load8(b, at + 1));
}
constexpr std::uint32_t load24(ConstBytes b, std::size_t at) {
  return std::uint32_t{load16(b, at)} << 8 | load8(b, at + 2);
}
constexpr std::uint32_t load32(ConstBytes b, std::size_t at) {
  return std::uint32_t{load16(b, at)} << 16 | load16(b, at + 2);
}
constexpr std::uint64_t load64(ConstBytes b, std::size_t at) {
  return std::uint64_t{load32(b, at)} << 32 | load32(b, at + 4);
}

constexpr void store8(MutableBytes b, std::size_t at, std::integral auto v) {
  b[at] = static_cast<std::byte>(v & 0xFF);
}
constexpr void store16(MutableBytes b, std::size_t at, std::uint16_t v) {
  store8(b, at, v >> 8);
  store8(b, at + 1, v);
}
constexpr void store24(MutableBytes b, std::size_t at, std::uint32_t v) {
  store8(b, at, v >> 16);
  store16(b, at + 1, static_cast<std::uint16_t>(v));
}
constexpr void store32(MutableBytes b, std::size_t at, std::uint32_t v) {
  store16(b, at, static_cast<std::uint16_t>(v >> 16));
  store16(b, at + 2, static_cast<std::uint16_t>(v));
}
constexpr void store64(MutableBytes b, std::size_t at, std::uint64_t v) {
  store32(b, at, static_cast<std::uint32_t>(v >> 32));
  store32(b, at + 4, static_cast<std::uint32_t>(v));
}

}  // namespace rocetune::wire
