// What the circumstances of a run do to all candidates alike.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "agent/tune/search/space.h"

namespace rocetune::search {

struct RepeatedScore {
  Candidate candidate;
  std::uint64_t repeat = 0;
  double score = 0;
};

// Score = what the candidate is worth + what the repeat does to all + chance: the second, by repeat, fitted
// to the candidates that ran under several repeats, by medians, as some of them break down in one (Tukey,
// Exploratory Data Analysis, 1977, chapter 10), and shrunk towards 0 as long as they are few. 0 for a repeat
// that none of those had. O(scores × log).
std::map<std::uint64_t, double> effects_of_repeats(const std::vector<RepeatedScore>& scores);

}  // namespace rocetune::search
