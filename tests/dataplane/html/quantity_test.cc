#include "dataplane/html/quantity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rocetune::html {
namespace {

TEST(QuantityText, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(quantity_text(92.449e9, kBitRate), "92.4\u00a0Gb/s");
  EXPECT_EQ(quantity_text(2'013'000, kBytes), "2.01\u00a0MB");
  EXPECT_EQ(quantity_text(12.3e-6, kSeconds), "12.3\u00a0µs");
  EXPECT_EQ(quantity_text(0.613, kPercent), "61.3\u00a0%");
  EXPECT_EQ(quantity_text(2.7569e-3, kSeconds, 4), "2.757\u00a0ms");
}

TEST(QuantityText, RoundsIntoTheNextPrefix) {
  EXPECT_EQ(quantity_text(999'400, kBytes), "999\u00a0kB");
  EXPECT_EQ(quantity_text(999'600, kBytes), "1\u00a0MB");
}

TEST(QuantityText, ThereAreNoMillibytes) { EXPECT_EQ(quantity_text(0.5, kBytes), "0.5\u00a0B"); }

TEST(QuantityText, CountsKeepAllDigitsBeforeThePoint) {
  EXPECT_EQ(quantity_text(31065.4, kCount), "31\u202f065");
  EXPECT_EQ(quantity_text(-31065.4, kCount), "-31\u202f065");
  EXPECT_EQ(quantity_text(2.345, kCount), "2.35");
  EXPECT_EQ(count_text(1'234'567), "1\u202f234\u202f567");
  EXPECT_EQ(count_text(999), "999");
}

TEST(QuantityText, SaysZeroAndUnknown) {
  EXPECT_EQ(quantity_text(0, kBytes), "0\u00a0B");
  EXPECT_EQ(quantity_text(NAN, kBytes), "–");
  EXPECT_EQ(quantity_text(INFINITY, kCount), "–");
}

TEST(Written, OnePrefixAndAsManyDecimalsForAll) {
  const Written milliseconds = written_for(3.93e-3, kSeconds);
  EXPECT_EQ(milliseconds.symbol, "ms");
  EXPECT_EQ(milliseconds.text(3.93e-3), "3.93");
  EXPECT_EQ(milliseconds.text(40e-6), "0.04");
  EXPECT_EQ(written_for(93.6e9, kBitRate).text(92e9), "92.0");
  EXPECT_EQ(written_for(0, kBytes).text(0), "0");
}

TEST(Written, CountsHaveNoDecimalsUnlessTheyAreMeans) {
  const Written count = written_for(5, kCount);
  EXPECT_EQ(count.text(5), "5");
  EXPECT_EQ(count.text(2.4), "2.4");
}

}  // namespace
}  // namespace rocetune::html
