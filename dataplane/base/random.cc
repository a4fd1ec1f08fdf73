#include "dataplane/base/random.h"

#include <algorithm>
#include <bit>

#include "congestion/fixed_point.h"

namespace rocetune {
namespace {

// ln 2 in units of 2^-64, and the same without its lowest byte in units of 2^-56.
constexpr std::uint64_t kLn2 = 0xb17217f7d1cf79ab;
constexpr std::uint64_t kLn2Of56 = kLn2 >> 8;

// Q[k] = sum over j = 1..k of (ln 2)^j / j!, in units of 2^-64 (algorithm S); Q[18] rounds to 1.
constexpr std::array<std::uint64_t, 17> kQ{
    kLn2,
    0xeef193f6d75a96fc,
    0xfd27186259aaf6c2,
    0xff9d6dd050f4c5a7,
    0xfff4cfcfef1e626b,
    0xfffee81886e1c62f,
    0xffffe7fe850e0bb5,
    0xfffffe2a8731b17d,
    0xffffffdfac6eeadc,
    0xfffffffdf9640067,
    0xffffffffe22ec79c,
    0xfffffffffe6a9ded,
    0xffffffffffebff81,
    0xffffffffffff1417,
    0xfffffffffffff5ce,
    0xffffffffffffff95,
    0xfffffffffffffffb,
};

}  // namespace

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  // The seed is mixed before the stream is added: neighbouring seeds and streams are then unrelated.
  std::uint64_t mixed = seed;
  std::uint64_t state = splitmix64(mixed) ^ stream;
  for (std::uint64_t& word : state_) word = splitmix64(state);
}

Random Random::from_state(const std::array<std::uint64_t, 4>& state) {
  ROCETUNE_ASSERT((state != std::array<std::uint64_t, 4>{}));
  Random out;
  out.state_ = state;
  return out;
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  ROCETUNE_ASSERT(bound > 0);
  UnsignedWide product = UnsignedWide(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t too_low = (0 - bound) % bound;  // 2^64 mod bound
    while (static_cast<std::uint64_t>(product) < too_low) product = UnsignedWide(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Random::between(std::int64_t first, std::int64_t last) {
  ROCETUNE_ASSERT(first <= last);
  const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  const std::uint64_t offset = span == UINT64_MAX ? next() : below(span + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + offset);
}

bool Random::happens(Ratio p) {
  // The number is drawn whatever p is: a changed probability does not shift what follows.
  return std::cmp_less(below(static_cast<std::uint64_t>(Ratio::kOne)), p.count());
}

Duration Random::exponential(Duration mean) {
  ROCETUNE_ASSERT(mean >= Duration() && mean <= seconds(86'400));
  // X = mean × (halvings × ln 2 + rest), rest from the same law cut at ln 2.
  std::uint64_t halvings = 0;
  std::uint64_t word = next();
  while (word == UINT64_MAX) {
    halvings += 64;
    word = next();
  }
  halvings += static_cast<std::uint64_t>(std::countl_one(word));
  const std::uint64_t u = next();
  std::uint64_t x = 0;  // in units of 2^-56
  if (u < kLn2) {
    x = halvings * kLn2Of56 + (u >> 8);
  } else {
    std::size_t k = 2;
    while (k <= kQ.size() && u >= kQ[k - 1]) ++k;
    std::uint64_t least = UINT64_MAX;
    for (std::size_t i = 0; i < k; ++i) least = std::min(least, next());
    x = static_cast<std::uint64_t>(((UnsignedWide(halvings) << 56) + (least >> 8)) * kLn2 >> 64);
  }
  return Duration(
      static_cast<std::int64_t>(UnsignedWide(static_cast<std::uint64_t>(mean.count())) * x >> 56));
}

}  // namespace rocetune
