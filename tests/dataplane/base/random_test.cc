#include "dataplane/base/random.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace rocetune {
namespace {

TEST(Random, Splitmix64MatchesItsAuthors) {
  std::uint64_t state = 0;
  EXPECT_EQ(splitmix64(state), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitmix64(state), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(splitmix64(state), 0x06c45d188009454fu);
}

TEST(Random, XoshiroMatchesItsAuthors) {
  Random random = Random::from_state({1, 2, 3, 4});
  for (const std::uint64_t expected : {std::uint64_t{11520}, std::uint64_t{0}, std::uint64_t{1509978240},
                                       std::uint64_t{1215971899390074240}}) {
    EXPECT_EQ(random.next(), expected);
  }
}

// The golden values come from an independent model of the same algorithms in another language.
TEST(Random, TheSameSeedGivesTheSameNumbersForever) {
  Random random(42);
  EXPECT_EQ(random.next(), 0x19e479e2aaa77bfbu);
  EXPECT_EQ(random.next(), 0x5e3efe753be27527u);
  Random other_stream(42, 1);
  EXPECT_EQ(other_stream.next(), 0x0cee3ac9ad457c96u);
}

TEST(Random, BelowIsTheSameForever) {
  Random random(7);
  for (const std::uint64_t expected : {2, 9, 3, 1, 9, 4, 4, 6, 7, 1, 5, 0, 4, 8, 1, 5}) {
    EXPECT_EQ(random.below(10), expected);
  }
}

TEST(Random, BelowIsUniformEvenForAwkwardBounds) {
  // 3 × 2^62: taking the remainder or the plain product would favour a third of the values by half.
  const std::uint64_t bound = 3ull << 62;
  Random random(1);
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30'000; ++i) ++thirds[random.below(bound) >> 62];
  for (const int n : thirds) EXPECT_NEAR(n, 10'000, 400);  // five standard deviations
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, BetweenReachesBothEnds) {
  Random random(3);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.between(-2, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.between(INT64_MIN, INT64_MIN), INT64_MIN);
  (void)random.between(INT64_MIN, INT64_MAX);
}

TEST(Random, HappensWithItsProbability) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += random.happens(Ratio::from_percent(10)) ? 1 : 0;
  EXPECT_NEAR(hits, 10'000, 475);
  EXPECT_FALSE(random.happens(Ratio()));
  EXPECT_TRUE(random.happens(Ratio::one()));
}

TEST(Random, AProbabilityDoesNotShiftTheStream) {
  Random a(5), b(5);
  (void)a.happens(Ratio());
  (void)b.happens(Ratio::one());
  EXPECT_EQ(a.next(), b.next());
}

TEST(Random, ExponentialIsTheSameForever) {
  Random random(7);
  for (const std::int64_t expected : {105932122LL, 418436713LL, 774066877LL, 458207617LL, 1489119707LL,
                                      740623358LL, 2596743250LL, 206735134LL}) {
    EXPECT_EQ(random.exponential(milliseconds(1)).count(), expected);
  }
}

TEST(Random, ExponentialHasItsMeanAndItsQuantiles) {
  Random random(8);
  constexpr int kDraws = 200'000;
  double sum = 0;
  int below_median = 0;
  int beyond_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Duration x = random.exponential(microseconds(1));
    sum += static_cast<double>(x.count());
    below_median += x < picoseconds(693'147) ? 1 : 0;
    beyond_three += x > microseconds(3) ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 1e6, 1e6 * 5 / 447);  // five standard errors
  EXPECT_NEAR(below_median, kDraws / 2, 5 * 224);
  EXPECT_NEAR(beyond_three, kDraws * 0.049787, 5 * 97);
  EXPECT_EQ(random.exponential(Duration()), Duration());
}

TEST(Random, ShufflesKeepEveryElementAndAreTheSameForever) {
  Random random(7);
  std::vector<int> items(8);
  std::iota(items.begin(), items.end(), 0);
  random.shuffle(std::span(items));
  EXPECT_EQ(items, (std::vector{7, 4, 5, 3, 0, 1, 6, 2}));
}

}  // namespace
}  // namespace rocetune
