// CRC-32 by tables: eight bytes a step, and whatever is left of the wide methods.
#pragma once

#include <cstring>

#include "congestion/units.h"
#include "dataplane/wire/crc32.h"

namespace rocetune::wire::crc32 {

inline constexpr std::uint32_t kPolynomial = 0xEDB88320;
using Table = std::array<std::uint32_t, 256>;

constexpr Table first_table() {
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t r = i;
    for (int bit = 0; bit < 8; ++bit) r = r >> 1 ^ (r & 1 ? kPolynomial : 0);
    table[i] = r;
  }
  return table;
}
inline constexpr Table kFirst = first_table();
constexpr Table one_zero_later(const Table& table) {
  Table next{};
  for (std::size_t i = 0; i < 256; ++i) next[i] = table[i] >> 8 ^ kFirst[table[i] & 0xFF];
  return next;
}
// kTables[n]: a byte with n bytes behind it.
constexpr std::array<Table, 12> make_tables() {
  std::array<Table, 12> tables{};
  tables[0] = kFirst;
  for (std::size_t i = 1; i < tables.size(); ++i) tables[i] = one_zero_later(tables[i - 1]);
  return tables;
}
inline constexpr std::array<Table, 12> kTables = make_tables();

// What four bytes add that have `behind` bytes behind them.
constexpr std::uint32_t of_word(std::uint32_t word, std::size_t behind) {
  return kTables[behind + 3][word & 0xFF] ^ kTables[behind + 2][word >> 8 & 0xFF] ^
         kTables[behind + 1][word >> 16 & 0xFF] ^ kTables[behind][word >> 24];
}

// The register after one byte.
constexpr std::uint32_t of_byte(std::byte byte, std::uint32_t state) {
  return state >> 8 ^ kFirst[(state ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
}

inline std::uint32_t load_little32(const std::byte* p) {
  std::uint32_t v{};
  std::memcpy(&v, p, 4);
  static_assert(std::endian::native == std::endian::little);
  return v;
}

inline std::uint32_t by_tables(std::uint32_t state, ConstBytes bytes) {
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    state = of_word(load_little32(p) ^ state, 4) ^ of_word(load_little32(p + 4), 0);
  }
  if (left >= 4) {
    state = of_word(load_little32(p) ^ state, 0);
    p += 4;
    left -= 4;
  }
  for (; left > 0; ++p, --left) state = of_byte(*p, state);
  return state;
}

}  // namespace rocetune::wire::crc32
