#include "dataplane/fabric/size_distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/base/config_files.h"

namespace rocetune::fabric {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr Ratio percent(std::int64_t n) { return Ratio::from_percent(n); }

TEST(SizeDistribution, AFixedOneAlwaysGivesItsSize) {
  const auto sizes = SizeDistribution::fixed(Bytes(500));
  Random random(1);
  EXPECT_EQ(sizes.mean(), Bytes(500));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sizes.sample(random), Bytes(500));
}

TEST(SizeDistribution, AShareOfTheFirstPointHasExactlyItsSize) {
  const SizeDistribution sizes({{Bytes(100), percent(30)}, {Bytes(300), percent(100)}});
  EXPECT_EQ(sizes.mean(), Bytes(30 + 140));
  Random random(1);
  int first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Bytes size = sizes.sample(random);
    EXPECT_GE(size, Bytes(100));
    EXPECT_LT(size, Bytes(300));
    first += size == Bytes(100);
  }
  EXPECT_NEAR(first, 3000 + 35, 200);
}

TEST(SizeDistribution, NoFlowIsEmpty) {
  const SizeDistribution sizes({{Bytes(0), Ratio(0)}, {Bytes(2), percent(100)}});
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sizes.sample(random), Bytes(1));
}

TEST(SizeDistribution, PointsThatMakeNoneAreRefused) {
  using Points = std::vector<SizePoint>;
  EXPECT_EQ(SizeDistribution::issue_of({}), "at least one point");
  EXPECT_EQ(SizeDistribution::issue_of(Points{{Bytes(5), percent(50)}, {Bytes(4), percent(100)}}),
            "sizes that do not fall");
  EXPECT_EQ(SizeDistribution::issue_of(Points{{Bytes(5), percent(50)}, {Bytes(6), percent(50)}}),
            "shares that rise");
  EXPECT_EQ(SizeDistribution::issue_of(Points{{Bytes(5), percent(99)}}), "a last share of 100%");
  EXPECT_EQ(SizeDistribution::issue_of(Points{{Bytes(5), percent(101)}}), "a last share of 100%");
  EXPECT_EQ(SizeDistribution::issue_of(Points{{Bytes(5'000'000'000), percent(100)}}),
            "sizes of at most 4294967295B");
}

// Means by hand from the points; the shares that samples have are those of the points.
TEST(Workloads, SamplesAreDistributedAsPublished) {
  const std::pair<const char*, std::int64_t> means[] = {
      {"websearch", 1'711'250}, {"hadoop", 120'421}, {"storage", 40'870}, {"cache", 687'657}};
  std::vector<std::string> names;
  for (const auto& [name, mean] : means) {
    names.emplace_back(name);
    const auto workload = shipped_workload(name);
    ASSERT_TRUE(workload) << workload.error().text();
    EXPECT_EQ(workload->sizes.mean(), Bytes(mean)) << name;
    Random random(7);
    constexpr int kSamples = 100'000;
    std::vector<std::int64_t> samples(kSamples);
    double sum = 0;
    for (std::int64_t& sample : samples) {
      sample = workload->sizes.sample(random).count();
      sum += static_cast<double>(sample);
    }
    EXPECT_NEAR(sum / kSamples, static_cast<double>(mean), 0.03 * static_cast<double>(mean)) << name;
    for (const SizePoint& point : workload->sizes.points()) {
      const auto below =
          std::ranges::count_if(samples, [&](std::int64_t n) { return n <= point.size.count(); });
      EXPECT_NEAR(static_cast<double>(below) / kSamples, point.share.value(), 0.01)
          << name << to_text(point.size);
    }
  }
  EXPECT_THAT(workload_names(), IsSupersetOf(names));
}

TEST(Workloads, SecondMomentsAreThoseOfThePoints) {
  // Of an even distribution from a to b: (a^2 + ab + b^2) / 3.
  const auto workload = shipped_workload("websearch").value();
  double expected = 0;
  const auto& points = workload.sizes.points();
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto a = static_cast<double>(points[i - 1].size.count());
    const auto b = static_cast<double>(points[i].size.count());
    expected += (points[i].share - points[i - 1].share).value() * (a * a + a * b + b * b) / 3;
  }
  Random random(11);
  double sum = 0;
  constexpr int kSamples = 200'000;
  for (int i = 0; i < kSamples; ++i) {
    const auto size = static_cast<double>(workload.sizes.sample(random).count());
    sum += size * size;
  }
  EXPECT_NEAR(sum / kSamples, expected, 0.03 * expected);
}

TEST(Workloads, EveryShippedOneIsReadAndNamedAsItsFile) {
  for (const std::string& name : workload_names()) {
    const auto workload = shipped_workload(name);
    ASSERT_TRUE(workload) << workload.error().text();
    EXPECT_EQ(workload->name, name);
  }
}

TEST(Workloads, WhatIsWrongIsSaidWithItsPlace) {
  const auto workload = workload_from_toml(
      "name = \"x\"\ndescription = \"y\"\npoints = [\n  {size = \"1kB\", share = 5},\n  {size = \"2\", share "
      "= "
      "\"100%\"},\n]\n",
      "x.toml");
  ASSERT_FALSE(workload);
  const std::string text = workload.error().text();
  EXPECT_THAT(text, HasSubstr("origin: found nothing"));
  EXPECT_THAT(text, HasSubstr("x.toml:4:26: points[0].share: found 5"));
  EXPECT_THAT(text, HasSubstr("x.toml:5:11: points[1].size: found \"2\""));
  const auto falling = workload_from_toml(
      "name = \"x\"\ndescription = \"y\"\norigin = \"z\"\npoints = [{size = \"2kB\", share = \"50%\"}, {size "
      "= "
      "\"1kB\", share = \"100%\"}]\n",
      "x.toml");
  ASSERT_FALSE(falling);
  EXPECT_THAT(falling.error().text(),
              HasSubstr("x.toml:4:1: points: found an array of 2, allowed: sizes that do not "
                        "fall"));
}

}  // namespace
}  // namespace rocetune::fabric
