#include "dataplane/wire/crc32.h"

#include <atomic>

#include "congestion/units.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rocetune::wire {
namespace {

constexpr std::uint32_t kPolynomial = 0xEDB88320;
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
constexpr Table kFirst = first_table();
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
constexpr std::array<Table, 12> kTables = make_tables();

// What four bytes add that have `behind` bytes behind them.
constexpr std::uint32_t of_word(std::uint32_t word, std::size_t behind) {
  return kTables[behind + 3][word & 0xFF] ^ kTables[behind + 2][word >> 8 & 0xFF] ^
         kTables[behind + 1][word >> 16 & 0xFF] ^ kTables[behind][word >> 24];
}

std::uint32_t load_little32(const std::byte* p) {
  std::uint32_t v{};
  std::memcpy(&v, p, 4);
  static_assert(std::endian::native == std::endian::little);
  return v;
}

std::uint32_t by_tables(std::uint32_t state, ConstBytes bytes) {
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
  for (; left > 0; ++p, --left)
    state = state >> 8 ^ kFirst[(state ^ std::to_integer<std::uint32_t>(*p)) & 0xFF];
  return state;
}

std::uint32_t copy_by_tables(std::uint32_t state, std::byte* to, ConstBytes from) {
  std::memcpy(to, from.data(), from.size());
  return by_tables(state, from);
}

#if defined(__x86_64__)

// x^n mod P, bit-reflected into 32 bits.
consteval std::uint32_t power_of_x(int n) {
  std::uint32_t r = 0x80000000;  // x^0
  for (int i = 0; i < n; ++i) r = r >> 1 ^ (r & 1 ? kPolynomial : 0);
  return r;
}
// A 128-bit lane (a·x^64 + b, reflected) moves `bits` further by a·(x^(bits+32)) ^ b·(x^(bits−32)); the
// products of reflected numbers come out one bit short, hence the shift. See Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009.
consteval long long fold_low(int bits) {
  const std::uint64_t power = power_of_x(bits + 32);
  return static_cast<long long>(power << 1);
}
consteval long long fold_high(int bits) {
  const std::uint64_t power = power_of_x(bits - 32);
  return static_cast<long long>(power << 1);
}
// Quotient of x^64 by P, reflected: for Barrett's reduction.
consteval std::uint64_t barrett_quotient() {
  std::uint64_t quotient = 0;
  // Long division of x^64 by P = x^32 + …, in normal bit order.
  constexpr std::uint64_t kNormal = 0x104C11DB7;
  std::uint64_t remainder = 1ULL << 32;  // holds the top 33 bits
  for (int i = 32; i >= 0; --i) {
    quotient <<= 1;
    if (remainder >> 32 & 1) {
      quotient |= 1;
      remainder ^= kNormal;
    }
    remainder <<= 1;
  }
  std::uint64_t reflected = 0;
  for (int i = 0; i <= 32; ++i) reflected |= (quotient >> i & 1) << (32 - i);
  return reflected;
}

#define ROCETUNE_PCLMUL __attribute__((target("pclmul,sse4.1"), always_inline)) inline

// Both ways in one: only reading, and copying what is read to a place `away` bytes from it. The
// multiplications take longer than the stores, which then cost nothing.
template <bool kCopies>
ROCETUNE_PCLMUL __m128i load128(const std::byte* p, [[maybe_unused]] std::ptrdiff_t away) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  if constexpr (kCopies) _mm_storeu_si128(reinterpret_cast<__m128i*>(const_cast<std::byte*>(p) + away), x);
  return x;
}
template <bool kCopies>
std::uint32_t rest_by_tables(std::uint32_t state, const std::byte* p, std::ptrdiff_t away, std::size_t left) {
  if constexpr (kCopies) return copy_by_tables(state, const_cast<std::byte*>(p) + away, {p, left});
  return by_tables(state, {p, left});
}
ROCETUNE_PCLMUL __m128i folded(__m128i lane, __m128i constants, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, constants, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, constants, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// 128 bits to the 32-bit register.
ROCETUNE_PCLMUL std::uint32_t reduced(__m128i x) {
  const __m128i mask = _mm_setr_epi32(-1, 0, -1, 0);
  // 128 → 96 → 64 bits.
  const __m128i k4 = _mm_set_epi64x(0, fold_high(128));
  x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, k4, 0x00));
  const __m128i k5 = _mm_set_epi64x(0, fold_low(32));
  x = _mm_xor_si128(_mm_srli_si128(x, 4), _mm_clmulepi64_si128(_mm_and_si128(x, mask), k5, 0x00));
  // Barrett.
  const __m128i constants = _mm_set_epi64x(static_cast<long long>(barrett_quotient()),
                                           static_cast<long long>(std::uint64_t{kPolynomial} << 1 | 1));
  __m128i t = _mm_clmulepi64_si128(_mm_and_si128(x, mask), constants, 0x10);
  t = _mm_clmulepi64_si128(_mm_and_si128(t, mask), constants, 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(x, t), 1));
}

// What is left behind the wide loops: whole 16-byte blocks, then the last bytes by table.
template <bool kCopies>
ROCETUNE_PCLMUL std::uint32_t finished(__m128i x, const std::byte* p, std::ptrdiff_t away, std::size_t left) {
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  for (; left >= 16; p += 16, left -= 16) x = folded(x, by128, load128<kCopies>(p, away));
  return rest_by_tables<kCopies>(reduced(x), p, away, left);
}

template <bool kCopies>
ROCETUNE_PCLMUL std::uint32_t pass_by_pclmul(std::uint32_t state, const std::byte* p, std::ptrdiff_t away,
                                             std::size_t left) {
  if (left < 32) return rest_by_tables<kCopies>(state, p, away, left);
  __m128i x0 = _mm_xor_si128(load128<kCopies>(p, away), _mm_cvtsi32_si128(static_cast<int>(state)));
  if (left < 128) return finished<kCopies>(x0, p + 16, away, left - 16);
  __m128i x1 = load128<kCopies>(p + 16, away);
  __m128i x2 = load128<kCopies>(p + 32, away);
  __m128i x3 = load128<kCopies>(p + 48, away);
  const __m128i by512 = _mm_set_epi64x(fold_high(512), fold_low(512));
  for (p += 64, left -= 64; left >= 64; p += 64, left -= 64) {
    x0 = folded(x0, by512, load128<kCopies>(p, away));
    x1 = folded(x1, by512, load128<kCopies>(p + 16, away));
    x2 = folded(x2, by512, load128<kCopies>(p + 32, away));
    x3 = folded(x3, by512, load128<kCopies>(p + 48, away));
  }
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  x1 = folded(x0, by128, x1);
  x2 = folded(x1, by128, x2);
  x3 = folded(x2, by128, x3);
  return finished<kCopies>(x3, p, away, left);
}

__attribute__((target("pclmul,sse4.1"))) std::uint32_t by_pclmul(std::uint32_t state, ConstBytes bytes) {
  return pass_by_pclmul<false>(state, bytes.data(), 0, bytes.size());
}
__attribute__((target("pclmul,sse4.1"))) std::uint32_t copy_by_pclmul(std::uint32_t state, std::byte* to,
                                                                      ConstBytes from) {
  return pass_by_pclmul<true>(state, from.data(), to - from.data(), from.size());
}

#define ROCETUNE_VPCLMUL __attribute__((target("vpclmulqdq,avx2,pclmul,sse4.1"), always_inline)) inline

template <bool kCopies>
ROCETUNE_VPCLMUL __m256i load256(const std::byte* p, [[maybe_unused]] std::ptrdiff_t away) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  if constexpr (kCopies) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(const_cast<std::byte*>(p) + away), x);
  }
  return x;
}
ROCETUNE_VPCLMUL __m256i folded(__m256i lanes, __m256i constants, __m256i next) {
  const __m256i low = _mm256_clmulepi64_epi128(lanes, constants, 0x00);
  const __m256i high = _mm256_clmulepi64_epi128(lanes, constants, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}

template <bool kCopies>
ROCETUNE_VPCLMUL std::uint32_t pass_by_vpclmul(std::uint32_t state, const std::byte* p, std::ptrdiff_t away,
                                               std::size_t left) {
  if (left < 256) return pass_by_pclmul<kCopies>(state, p, away, left);
  __m256i x0 = _mm256_xor_si256(load256<kCopies>(p, away),
                                _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(state))));
  __m256i x1 = load256<kCopies>(p + 32, away);
  __m256i x2 = load256<kCopies>(p + 64, away);
  __m256i x3 = load256<kCopies>(p + 96, away);
  const __m256i by1024 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_high(1024), fold_low(1024)));
  for (p += 128, left -= 128; left >= 128; p += 128, left -= 128) {
    x0 = folded(x0, by1024, load256<kCopies>(p, away));
    x1 = folded(x1, by1024, load256<kCopies>(p + 32, away));
    x2 = folded(x2, by1024, load256<kCopies>(p + 64, away));
    x3 = folded(x3, by1024, load256<kCopies>(p + 96, away));
  }
  const __m256i by256 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_high(256), fold_low(256)));
  x1 = folded(x0, by256, x1);
  x2 = folded(x1, by256, x2);
  x3 = folded(x2, by256, x3);
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  const __m128i x = folded(_mm256_castsi256_si128(x3), by128, _mm256_extracti128_si256(x3, 1));
  return finished<kCopies>(x, p, away, left);
}

__attribute__((target("vpclmulqdq,avx2,pclmul,sse4.1"))) std::uint32_t by_vpclmul(std::uint32_t state,
                                                                                  ConstBytes bytes) {
  return pass_by_vpclmul<false>(state, bytes.data(), 0, bytes.size());
}
__attribute__((target("vpclmulqdq,avx2,pclmul,sse4.1"))) std::uint32_t copy_by_vpclmul(std::uint32_t state,
                                                                                       std::byte* to,
                                                                                       ConstBytes from) {
  return pass_by_vpclmul<true>(state, from.data(), to - from.data(), from.size());
}

bool has_pclmul() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }
bool has_vpclmul() {
  return has_pclmul() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}
#endif

std::span<const Crc32Method> methods() {
  static const std::array kMethods {
    Crc32Method{"tables", true, &by_tables, &copy_by_tables},
#if defined(__x86_64__)
        Crc32Method{"pclmulqdq", has_pclmul(), &by_pclmul, &copy_by_pclmul},
        Crc32Method{"vpclmulqdq", has_vpclmul(), &by_vpclmul, &copy_by_vpclmul},
#endif
  };
  return kMethods;
}

const Crc32Method& best_method() {
  const Crc32Method* best = nullptr;
  for (const Crc32Method& method : methods()) {
    if (method.usable) best = &method;
  }
  return *best;
}

using Extend = std::uint32_t (*)(std::uint32_t, ConstBytes);
using Copy = std::uint32_t (*)(std::uint32_t, std::byte*, ConstBytes);
std::uint32_t choose_and_extend(std::uint32_t state, ConstBytes bytes);
std::uint32_t choose_and_copy(std::uint32_t state, std::byte* to, ConstBytes from);
// Constant-initialised, so that it also works while other files' statics are being made.
constinit std::atomic<Extend> chosen{&choose_and_extend};
constinit std::atomic<Copy> chosen_copy{&choose_and_copy};
std::uint32_t choose_and_extend(std::uint32_t state, ConstBytes bytes) {
  const Extend best = best_method().extend;
  chosen.store(best, std::memory_order_relaxed);
  return best(state, bytes);
}
std::uint32_t choose_and_copy(std::uint32_t state, std::byte* to, ConstBytes from) {
  const Copy best = best_method().copy;
  chosen_copy.store(best, std::memory_order_relaxed);
  return best(state, to, from);
}

}  // namespace

std::uint32_t crc32_extend(std::uint32_t state, ConstBytes bytes) {
  return chosen.load(std::memory_order_relaxed)(state, bytes);
}
std::uint32_t crc32_extend(std::uint32_t state, const std::array<std::uint32_t, 3>& words) {
  return of_word(words[0] ^ state, 8) ^ of_word(words[1], 4) ^ of_word(words[2], 0);
}

std::uint32_t crc32_copy(std::uint32_t state, MutableBytes to, ConstBytes from) {
  ROCETUNE_ASSERT(to.size() >= from.size());
  return chosen_copy.load(std::memory_order_relaxed)(state, to.data(), from);
}

std::span<const Crc32Method> crc32_methods() { return methods(); }
const Crc32Method& crc32_method() { return best_method(); }

std::array<std::uint32_t, 256> crc32_byte_at(unsigned zeros) {
  Table table = kFirst;
  for (unsigned i = 0; i < zeros; ++i) table = one_zero_later(table);
  return table;
}

}  // namespace rocetune::wire
