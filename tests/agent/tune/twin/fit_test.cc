#include "agent/tune/twin/fit.h"

#include <gmock/gmock.h>

#include <cmath>

namespace rocetune::twin {
namespace {

Unknown of(std::string name, double start, double min, double max) {
  return {.name = std::move(name), .start = start, .min = min, .max = max, .is_logarithmic = true};
}
Model each(std::function<std::vector<std::optional<double>>(const std::vector<double>&)> one) {
  return [one](const std::vector<std::vector<double>>& points) {
    Modelled out;
    for (const auto& point : points) out.push_back(one(point));
    return out;
  };
}

TEST(Fit, FindsWhatTheObservedTells) {
  const std::vector<Unknown> unknowns{of("a", 10, 1, 1000), of("b", 10, 1, 1000)};
  const Model model = each([](const auto& p) {
    return std::vector<std::optional<double>>{p[0] * p[1], p[0] / p[1]};
  });
  const auto found = fit(unknowns, {{200.0 * 20, 0.05, 0}, {200.0 / 20, 0.05, 0}}, model, 200, {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->unknowns[0].value / 200, 1, 0.1);
  EXPECT_NEAR(found->unknowns[1].value / 20, 1, 0.1);
  EXPECT_LT(found->misfit, 2);
  EXPECT_GT(found->misfit_before, 20);
  for (const FittedUnknown& one : found->unknowns) {
    EXPECT_TRUE(one.is_told);
    EXPECT_LE(one.low, one.value);
    EXPECT_GE(one.high, one.value);
  }
}

TEST(Fit, WhatNothingTellsStaysAndIsSaidToBeUntold) {
  const std::vector<Unknown> unknowns{of("a", 10, 1, 1000), of("idle", 30, 1, 1000)};
  const Model model = each([](const auto& p) { return std::vector<std::optional<double>>{p[0]}; });
  const auto found = fit(unknowns, {{100, 0.05, 0}}, model, 150, {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->unknowns[0].value / 100, 1, 0.15);
  EXPECT_TRUE(found->unknowns[0].is_told);
  EXPECT_FALSE(found->unknowns[1].is_told);
  EXPECT_NEAR(std::log(found->unknowns[1].value / 30), 0, 1);
  EXPECT_LT(found->unknowns[1].low, 2);
  EXPECT_GT(found->unknowns[1].high, 500);
}

TEST(Fit, TwoThatCanBeTradedAreUntoldBoth) {
  const std::vector<Unknown> unknowns{of("a", 10, 1, 1000), of("b", 10, 1, 1000)};
  const Model model = each([](const auto& p) { return std::vector<std::optional<double>>{p[0] * p[1]}; });
  const auto found = fit(unknowns, {{1000, 0.3, 0}}, model, 200, {});
  ASSERT_TRUE(found);
  EXPECT_LT(found->misfit, 1);
  EXPECT_FALSE(found->unknowns[0].is_told && found->unknowns[1].is_told);
}

TEST(Fit, OneThatCannotBeMetDoesNotHideTheOthers) {
  const std::vector<Unknown> unknowns{of("a", 10, 1, 1000)};
  const Model model = each([](const auto& p) { return std::vector<std::optional<double>>{p[0], 5.0}; });
  const auto found = fit(unknowns, {{100, 0.05, 0}, {500, 0.05, 0}}, model, 60, {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->unknowns[0].value / 100, 1, 0.15);
  EXPECT_GT(found->misfit, 20);
}

TEST(Fit, IsTheSameEachTimeAndKeepsToItsPoints) {
  int modelled = 0;
  const std::vector<Unknown> unknowns{of("a", 10, 1, 1000), of("b", 10, 1, 1000)};
  const Model model = [&](const std::vector<std::vector<double>>& points) {
    modelled += static_cast<int>(points.size());
    Modelled out;
    for (const auto& p : points) {
      EXPECT_GE(p[0], 1);
      EXPECT_LE(p[0], 1000);
      out.push_back({std::sin(p[0]) + 2 + p[1] / 100});
    }
    return out;
  };
  const auto one = fit(unknowns, {{3, 0.1, 0}}, model, 150, {});
  EXPECT_LE(modelled, 150 + 8);
  const auto two = fit(unknowns, {{3, 0.1, 0}}, model, 150, {});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->points * 2, modelled);
  EXPECT_EQ(one->unknowns[0].value, two->unknowns[0].value);
  EXPECT_EQ(one->unknowns[1].high, two->unknowns[1].high);
}

TEST(Fit, NothingToFitModelsTheStart) {
  const Model model = each([](const auto&) { return std::vector<std::optional<double>>{7.0}; });
  const auto found = fit({}, {{7, 0.1, 0}}, model, 150, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->points, 1);
  EXPECT_EQ(found->misfit, 0);
  EXPECT_EQ(found->modelled[0], 7.0);
}

TEST(Fit, CanBeStopped) {
  std::stop_source stop;
  const Model model = [&](const std::vector<std::vector<double>>& points) {
    if (points.size() > 1) stop.request_stop();
    return Modelled(points.size(), {1.0});
  };
  EXPECT_FALSE(fit({of("a", 10, 1, 1000)}, {{3, 0.1, 0}}, model, 90, stop.get_token()));
}

}  // namespace
}  // namespace rocetune::twin
