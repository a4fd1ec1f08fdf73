#include "agent/tune/search/repeats.h"

#include <gtest/gtest.h>

namespace rocetune::search {
namespace {

Candidate candidate(double value) { return Candidate{{value}}; }

TEST(Repeats, OfOneRunEachNothingIsKnown) {
  const auto effects = effects_of_repeats({{candidate(1), 7, 0.5}, {candidate(2), 8, -0.5}});
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects.at(7), 0);
  EXPECT_EQ(effects.at(8), 0);
}

TEST(Repeats, WhatIsCommonToCandidatesIsTheRepeats) {
  std::vector<RepeatedScore> scores;
  for (int c = 0; c < 20; ++c) {
    scores.push_back({candidate(c), 0, 0.1 * c + 0.2});
    scores.push_back({candidate(c), 1, 0.1 * c - 0.2});
  }
  const auto effects = effects_of_repeats(scores);
  EXPECT_NEAR(effects.at(0), 0.2, 0.02);
  EXPECT_NEAR(effects.at(1), -0.2, 0.02);
}

TEST(Repeats, OneThatBreaksDownDoesNotBlameTheRepeat) {
  std::vector<RepeatedScore> scores;
  for (int c = 0; c < 9; ++c) {
    for (std::uint64_t repeat = 0; repeat < 3; ++repeat)
      scores.push_back({candidate(c), repeat, c == 4 && repeat == 2 ? -3.0 : 0.3});
  }
  const auto effects = effects_of_repeats(scores);
  for (std::uint64_t repeat = 0; repeat < 3; ++repeat) EXPECT_NEAR(effects.at(repeat), 0, 0.01) << repeat;
}

TEST(Repeats, FewCandidatesSayLittle) {
  const auto effects = effects_of_repeats({{candidate(1), 0, 0.2}, {candidate(1), 1, -0.2}});
  EXPECT_GT(effects.at(0), 0);
  EXPECT_LT(effects.at(0), 0.1);
}

}  // namespace
}  // namespace rocetune::search
