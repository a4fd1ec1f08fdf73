// By carry-less multiplication: registers of 128, 256 and 512 bits.
#include "dataplane/wire/crc32_x86.h"

#if defined(__x86_64__)

// gcc 12's own intrinsics begin with a register that is left undefined on purpose (gcc bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "dataplane/wire/crc32_tables.h"

namespace rocetune::wire::crc32 {
namespace {

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
  return std::bit_cast<long long>(power << 1);
}
consteval long long fold_high(int bits) {
  const std::uint64_t power = power_of_x(bits - 32);
  return std::bit_cast<long long>(power << 1);
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

// What a processor must have for a method.
#define ROCETUNE_HAS_PCLMUL "pclmul,sse4.1"
#define ROCETUNE_HAS_VPCLMUL "vpclmulqdq,avx2," ROCETUNE_HAS_PCLMUL
#define ROCETUNE_HAS_VPCLMUL512 "avx512f,avx512vl," ROCETUNE_HAS_VPCLMUL

#define ROCETUNE_PCLMUL __attribute__((target(ROCETUNE_HAS_PCLMUL), always_inline)) inline

// Three ways in one: only reading; copying what is read to a place `away` bytes from it, which costs nothing
// since the multiplications take longer than the stores; and setting bits in the first 64 bytes.
enum class Pass { reads, copies, masks };
struct Extra {
  std::ptrdiff_t away = 0;          // copies
  const std::byte* ones = nullptr;  // masks: 64 bytes
};
template <Pass kPass>
ROCETUNE_PCLMUL __m128i load128(const std::byte* p, [[maybe_unused]] Extra extra) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  if constexpr (kPass == Pass::copies)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(const_cast<std::byte*>(p) + extra.away), x);
  return x;
}
// Of the first 64 bytes, which begin at p: those from `at`.
template <Pass kPass>
ROCETUNE_PCLMUL __m128i first128(const std::byte* p, std::size_t at, Extra extra) {
  const __m128i x = load128<kPass>(p + at, extra);
  if constexpr (kPass == Pass::masks)
    return _mm_or_si128(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(extra.ones + at)));
  return x;
}
template <Pass kPass>
std::uint32_t rest_by_tables(std::uint32_t state, const std::byte* p, Extra extra, std::size_t left) {
  if constexpr (kPass == Pass::copies) std::memcpy(const_cast<std::byte*>(p) + extra.away, p, left);
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
template <Pass kPass>
ROCETUNE_PCLMUL std::uint32_t finished(__m128i x, const std::byte* p, Extra extra, std::size_t left) {
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  for (; left >= 16; p += 16, left -= 16) x = folded(x, by128, load128<kPass>(p, extra));
  return rest_by_tables<kPass>(reduced(x), p, extra, left);
}

template <Pass kPass>
ROCETUNE_PCLMUL std::uint32_t pass_by_pclmul(std::uint32_t state, const std::byte* p, Extra extra,
                                             std::size_t left) {
  if (left < 32) return rest_by_tables<kPass>(state, p, extra, left);
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  __m128i x0 = _mm_xor_si128(first128<kPass>(p, 0, extra), _mm_cvtsi32_si128(static_cast<int>(state)));
  if (left < 64) return finished<kPass>(x0, p + 16, extra, left - 16);
  __m128i x1 = first128<kPass>(p, 16, extra);
  __m128i x2 = first128<kPass>(p, 32, extra);
  __m128i x3 = first128<kPass>(p, 48, extra);
  const __m128i by512 = _mm_set_epi64x(fold_high(512), fold_low(512));
  for (p += 64, left -= 64; left >= 64; p += 64, left -= 64) {
    x0 = folded(x0, by512, load128<kPass>(p, extra));
    x1 = folded(x1, by512, load128<kPass>(p + 16, extra));
    x2 = folded(x2, by512, load128<kPass>(p + 32, extra));
    x3 = folded(x3, by512, load128<kPass>(p + 48, extra));
  }
  x1 = folded(x0, by128, x1);
  x2 = folded(x1, by128, x2);
  x3 = folded(x2, by128, x3);
  return finished<kPass>(x3, p, extra, left);
}

#define ROCETUNE_VPCLMUL __attribute__((target(ROCETUNE_HAS_VPCLMUL), always_inline)) inline

template <Pass kPass>
ROCETUNE_VPCLMUL __m256i load256(const std::byte* p, [[maybe_unused]] Extra extra) {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  if constexpr (kPass == Pass::copies)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(const_cast<std::byte*>(p) + extra.away), x);
  return x;
}
template <Pass kPass>
ROCETUNE_VPCLMUL __m256i first256(const std::byte* p, std::size_t at, Extra extra) {
  const __m256i x = load256<kPass>(p + at, extra);
  if constexpr (kPass == Pass::masks)
    return _mm256_or_si256(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(extra.ones + at)));
  return x;
}
ROCETUNE_VPCLMUL __m256i folded(__m256i lanes, __m256i constants, __m256i next) {
  const __m256i low = _mm256_clmulepi64_epi128(lanes, constants, 0x00);
  const __m256i high = _mm256_clmulepi64_epi128(lanes, constants, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}
ROCETUNE_VPCLMUL __m128i halves_folded(__m256i lanes) {
  const __m128i by128 = _mm_set_epi64x(fold_high(128), fold_low(128));
  return folded(_mm256_castsi256_si128(lanes), by128, _mm256_extracti128_si256(lanes, 1));
}

template <Pass kPass>
ROCETUNE_VPCLMUL std::uint32_t pass_by_vpclmul(std::uint32_t state, const std::byte* p, Extra extra,
                                               std::size_t left) {
  if (left < 256) return pass_by_pclmul<kPass>(state, p, extra, left);
  __m256i x0 = _mm256_xor_si256(first256<kPass>(p, 0, extra),
                                _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(state))));
  __m256i x1 = first256<kPass>(p, 32, extra);
  __m256i x2 = load256<kPass>(p + 64, extra);
  __m256i x3 = load256<kPass>(p + 96, extra);
  const __m256i by1024 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_high(1024), fold_low(1024)));
  for (p += 128, left -= 128; left >= 128; p += 128, left -= 128) {
    x0 = folded(x0, by1024, load256<kPass>(p, extra));
    x1 = folded(x1, by1024, load256<kPass>(p + 32, extra));
    x2 = folded(x2, by1024, load256<kPass>(p + 64, extra));
    x3 = folded(x3, by1024, load256<kPass>(p + 96, extra));
  }
  const __m256i by256 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_high(256), fold_low(256)));
  x1 = folded(x0, by256, x1);
  x2 = folded(x1, by256, x2);
  x3 = folded(x2, by256, x3);
  return finished<kPass>(halves_folded(x3), p, extra, left);
}

#define ROCETUNE_VPCLMUL512 __attribute__((target(ROCETUNE_HAS_VPCLMUL512), always_inline)) inline

template <Pass kPass>
ROCETUNE_VPCLMUL512 __m512i load512(const std::byte* p, [[maybe_unused]] Extra extra) {
  const __m512i x = _mm512_loadu_si512(p);
  if constexpr (kPass == Pass::copies) _mm512_storeu_si512(const_cast<std::byte*>(p) + extra.away, x);
  return x;
}
ROCETUNE_VPCLMUL512 __m512i folded(__m512i lanes, __m512i constants, __m512i next) {
  constexpr int kXorOfThree = 0x96;
  const __m512i low = _mm512_clmulepi64_epi128(lanes, constants, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, constants, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, kXorOfThree);
}

template <Pass kPass>
ROCETUNE_VPCLMUL512 std::uint32_t pass_by_vpclmul512(std::uint32_t state, const std::byte* p, Extra extra,
                                                     std::size_t left) {
  if (left < 512) return pass_by_vpclmul<kPass>(state, p, extra, left);
  __m512i x0 = load512<kPass>(p, extra);
  if constexpr (kPass == Pass::masks) x0 = _mm512_or_si512(x0, _mm512_loadu_si512(extra.ones));
  x0 = _mm512_xor_si512(x0, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
  __m512i x1 = load512<kPass>(p + 64, extra);
  __m512i x2 = load512<kPass>(p + 128, extra);
  __m512i x3 = load512<kPass>(p + 192, extra);
  const __m512i by2048 = _mm512_broadcast_i32x4(_mm_set_epi64x(fold_high(2048), fold_low(2048)));
  for (p += 256, left -= 256; left >= 256; p += 256, left -= 256) {
    x0 = folded(x0, by2048, load512<kPass>(p, extra));
    x1 = folded(x1, by2048, load512<kPass>(p + 64, extra));
    x2 = folded(x2, by2048, load512<kPass>(p + 128, extra));
    x3 = folded(x3, by2048, load512<kPass>(p + 192, extra));
  }
  const __m512i by512 = _mm512_broadcast_i32x4(_mm_set_epi64x(fold_high(512), fold_low(512)));
  x1 = folded(x0, by512, x1);
  x2 = folded(x1, by512, x2);
  x3 = folded(x2, by512, x3);
  for (; left >= 64; p += 64, left -= 64) x3 = folded(x3, by512, load512<kPass>(p, extra));
  const __m256i by256 = _mm256_broadcastsi128_si256(_mm_set_epi64x(fold_high(256), fold_low(256)));
  const __m256i halves = folded(_mm512_castsi512_si256(x3), by256, _mm512_extracti64x4_epi64(x3, 1));
  return finished<kPass>(halves_folded(halves), p, extra, left);
}

// NAME_extend, NAME_copy and NAME_masked: the three ways of PASS, compiled for FEATURES.
#define ROCETUNE_CRC32_METHOD(NAME, PASS, FEATURES)                                                      \
  __attribute__((target(FEATURES))) std::uint32_t NAME##_extend(std::uint32_t state, ConstBytes bytes) { \
    return PASS<Pass::reads>(state, bytes.data(), {}, bytes.size());                                     \
  }                                                                                                      \
  __attribute__((target(FEATURES)))                                                                      \
  std::uint32_t NAME##_copy(std::uint32_t state, std::byte* to, ConstBytes from) {                       \
    return PASS<Pass::copies>(state, from.data(), {.away = to - from.data()}, from.size());              \
  }                                                                                                      \
  __attribute__((target(FEATURES)))                                                                      \
  std::uint32_t NAME##_masked(std::uint32_t state, ConstBytes bytes, const Crc32Mask& ones) {            \
    return PASS<Pass::masks>(state, bytes.data(), {.ones = ones.data()}, bytes.size());                  \
  }
ROCETUNE_CRC32_METHOD(pclmul, pass_by_pclmul, ROCETUNE_HAS_PCLMUL)
ROCETUNE_CRC32_METHOD(vpclmul, pass_by_vpclmul, ROCETUNE_HAS_VPCLMUL)
ROCETUNE_CRC32_METHOD(vpclmul512, pass_by_vpclmul512, ROCETUNE_HAS_VPCLMUL512)

bool has_pclmul() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }
bool has_vpclmul() {
  return has_pclmul() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}
bool has_vpclmul512() {
  return has_vpclmul() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
}  // namespace

std::array<Crc32Method, 3> x86_methods() {
  return {{{"pclmulqdq", has_pclmul(), &pclmul_extend, &pclmul_copy, &pclmul_masked},
           {"vpclmulqdq", has_vpclmul(), &vpclmul_extend, &vpclmul_copy, &vpclmul_masked},
           {"vpclmulqdq-512", has_vpclmul512(), &vpclmul512_extend, &vpclmul512_copy, &vpclmul512_masked}}};
}

}  // namespace rocetune::wire::crc32
#endif
