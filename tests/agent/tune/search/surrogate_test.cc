#include "agent/tune/search/surrogate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rocetune::search {
namespace {

Space many_numbers(int count) {
  std::vector<Knob> knobs;
  for (int i = 0; i < count; ++i) {
    Knob knob;
    knob.name = fmt::format("k{}", i);
    knob.max = 1000;
    knob.start = 500;
    knobs.push_back(knob);
  }
  Knob choice;
  choice.name = "choice";
  choice.kind = KnobKind::categorical;
  choice.choices = {"a", "b", "c"};
  knobs.push_back(choice);
  return Space::of(knobs).value();
}

Candidate anywhere(const Space& space, Random& random) {
  Candidate out;
  for (const Knob& knob : space.knobs()) {
    out.values.push_back(knob.is_numeric() ? knob.at_position(uniform(random))
                                           : static_cast<double>(random.below(3)));
  }
  return out;
}

// Two numbers and a choice of 16 knobs matter.
double truth(const Candidate& c) {
  const double x = c.values[3] / 1000;
  const double y = c.values[7] / 1000;
  return -2 * (x - 0.3) * (x - 0.3) - (y - 0.8) * (y - 0.8) - (c.values.back() == 1 ? 0 : 0.5);
}

TEST(Surrogate, LearnsWhichKnobsMatterAndWhatTheyDo) {
  const Space space = many_numbers(15);
  Random random(11);
  std::vector<Surrogate::Example> examples;
  for (int i = 0; i < 50; ++i) {
    const Candidate candidate = anywhere(space, random);
    examples.push_back({candidate, truth(candidate) + 0.01 * normal(random), 1});
  }
  Surrogate surrogate(space);
  surrogate.fit(examples, random);
  surrogate.fit(examples, random);  // draws go on
  EXPECT_GT(surrogate.relevance(3), 0.9);
  EXPECT_GT(surrogate.relevance(15), 0.9);
  double idle = 0;
  for (const std::size_t k : {0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14})
    idle += surrogate.relevance(k) / 13;
  EXPECT_LT(idle, 0.35);

  double squares = 0;
  double spread = 0;
  int inside = 0;
  for (int i = 0; i < 200; ++i) {
    const Candidate candidate = anywhere(space, random);
    const double error = surrogate.expected(candidate) - truth(candidate);
    squares += error * error / 200;
    spread += truth(candidate) * truth(candidate) / 200;
    double sd = 0;
    for (const Surrogate::Belief& belief : surrogate.beliefs(candidate)) sd = std::max(sd, belief.sd);
    inside += std::fabs(error) < 3 * sd ? 1 : 0;
  }
  EXPECT_LT(squares, 0.05 * spread);
  EXPECT_GT(inside, 170);
}

TEST(Surrogate, BelievesWhatItHasSeen) {
  const Space space = many_numbers(3);
  Random random(2);
  std::vector<Surrogate::Example> examples;
  for (int i = 0; i < 12; ++i) {
    Candidate candidate = anywhere(space, random);
    const double value = candidate.values[0] / 1000;
    examples.push_back({std::move(candidate), value, 1});
  }
  Surrogate surrogate(space);
  surrogate.fit(examples, random);
  for (const Surrogate::Example& example : examples)
    EXPECT_NEAR(surrogate.expected(example.candidate), example.value, 0.15);
}

TEST(Surrogate, ConstantValuesAndTwinsAreNoTrouble) {
  const Space space = many_numbers(4);
  Random random(2);
  std::vector<Surrogate::Example> examples(6, {space.start(), 1.0, 2});
  Surrogate surrogate(space);
  surrogate.fit(examples, random);
  EXPECT_NEAR(surrogate.expected(space.start()), 1.0, 1e-6);
  examples.back().value = 3;  // the same candidate, another value
  surrogate.fit(examples, random);
  EXPECT_NEAR(surrogate.expected(space.start()), 4.0 / 3, 0.1);
}

}  // namespace
}  // namespace rocetune::search
