#include "dataplane/fabric/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace rocetune::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr BitRate kHostRate = gigabits_per_second(100);

Traffic among(Pattern pattern, HostSet hosts) {
  Traffic out;
  out.pattern = pattern;
  out.hosts = std::move(hosts);
  out.flow.bytes = 1000;
  return out;
}
std::vector<BitRate> rates(std::uint32_t hosts) { return std::vector<BitRate>(hosts, kHostRate); }

std::vector<std::pair<NodeId, NodeId>> pairs(const Traffic& traffic, std::uint64_t seed = 1,
                                             std::uint32_t number = 0) {
  std::vector<std::pair<NodeId, NodeId>> out;
  for (const Flow& flow : flows_of(traffic, {}, seed, number)) out.emplace_back(flow.from, flow.to);
  return out;
}

TEST(Traffic, APermutationGoesRoundItsOwnHosts) {
  Traffic traffic = among(Pattern::permutation, HostSet::parse("4, 9, 2").value());
  traffic.shift = 1;
  EXPECT_THAT(pairs(traffic), ElementsAre(Pair(4, 9), Pair(9, 2), Pair(2, 4)));
}

TEST(Traffic, BisectionCrossesTheMiddleBothWays) {
  EXPECT_THAT(pairs(among(Pattern::bisection, HostSet::all(4))),
              ElementsAre(Pair(0, 2), Pair(1, 3), Pair(2, 0), Pair(3, 1)));
}

TEST(Traffic, AllToAllBeginsWithTheNearest) {
  EXPECT_THAT(pairs(among(Pattern::all_to_all, HostSet::all(3))),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2), Pair(1, 0), Pair(2, 0), Pair(2, 1)));
}

TEST(Traffic, AnIncastPassesOverItsReceiver) {
  Traffic traffic = among(Pattern::incast, HostSet::parse("1, 3, 5, 7").value());
  traffic.flow.to = 3;
  traffic.senders = 2;
  traffic.flows_per_sender = 2;
  EXPECT_THAT(pairs(traffic), ElementsAre(Pair(1, 3), Pair(1, 3), Pair(5, 3), Pair(5, 3)));
}

TEST(RandomPermutation, SendsEachHostToAnotherOne) {
  for (const std::uint32_t n : {2U, 3U, 64U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::set<NodeId> receivers;
      const auto found = pairs(among(Pattern::random_permutation, HostSet::all(n)), seed);
      ASSERT_EQ(found.size(), n);
      for (const auto& [from, to] : found) {
        EXPECT_NE(from, to);
        receivers.insert(to);
      }
      EXPECT_EQ(receivers.size(), n);
    }
  }
}

TEST(RandomPermutation, EveryOneIsAsLikely) {
  // Of 4 hosts there are 9 without a fixed point.
  std::map<std::vector<std::pair<NodeId, NodeId>>, int> seen;
  for (std::uint64_t seed = 0; seed < 9000; ++seed)
    ++seen[pairs(among(Pattern::random_permutation, HostSet::all(4)), seed)];
  EXPECT_EQ(seen.size(), 9u);
  for (const auto& [found, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(RandomPermutation, IsDrawnBySeedAndTable) {
  const Traffic traffic = among(Pattern::random_permutation, HostSet::all(64));
  EXPECT_EQ(pairs(traffic, 1), pairs(traffic, 1));
  EXPECT_NE(pairs(traffic, 1), pairs(traffic, 2));
  EXPECT_NE(pairs(traffic, 1, 0), pairs(traffic, 1, 1));
}

Traffic poisson(std::uint32_t hosts, SizeDistribution sizes, Ratio load, Duration until) {
  Traffic out = among(Pattern::poisson, HostSet::all(hosts));
  out.sizes = std::move(sizes);
  out.load = load;
  out.until = Instant(until);
  return out;
}

struct Offered {
  double flows = 0;
  double bytes = 0;
  Duration last;
  bool is_in_order = true;
};
Offered offered(const Traffic& traffic, std::span<const BitRate> host_rates, std::uint64_t seed) {
  Offered out;
  for (const Flow& flow : flows_of(traffic, host_rates, seed, 0)) {
    out.flows += 1;
    out.bytes += static_cast<double>(flow.bytes);
    out.is_in_order = out.is_in_order && flow.start.since_origin() >= out.last;
    out.last = flow.start.since_origin();
    EXPECT_NE(flow.from, flow.to);
  }
  return out;
}

TEST(Poisson, OffersItsLoad) {
  // 16 hosts at 60 % of 100 Gb/s for 20 ms: 2.4 GB.
  const auto host_rates = rates(16);
  for (const char* name : {"cache", "storage"}) {
    const auto sizes = shipped_workload(name).value().sizes;
    const Traffic traffic = poisson(16, sizes, Ratio::from_percent(60), milliseconds(20));
    const double flows = 2.4e9 / static_cast<double>(sizes.mean().count());
    EXPECT_NEAR(static_cast<double>(expected_flows(traffic, host_rates)), flows, 1);
    double bytes = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Offered found = offered(traffic, host_rates, seed);
      EXPECT_NEAR(found.flows, flows, 4 * std::sqrt(flows)) << name;
      EXPECT_TRUE(found.is_in_order);
      EXPECT_LT(found.last, milliseconds(20));
      EXPECT_GT(found.last, milliseconds(19));
      bytes += found.bytes / 4;
    }
    EXPECT_NEAR(bytes, 2.4e9, 0.03 * 2.4e9) << name;
  }
}

TEST(Poisson, GapsAreExponential) {
  // A million arrivals a second: mean 1 us, standard deviation 1 us, one in e longer than the mean.
  const Traffic traffic =
      poisson(2, SizeDistribution::fixed(Bytes(12'500)), Ratio::from_percent(50), milliseconds(100));
  std::vector<double> gaps;
  Instant before;
  for (const Flow& flow : flows_of(traffic, rates(2), 3, 0)) {
    gaps.push_back((flow.start - before).microseconds());
    before = flow.start;
  }
  double sum = 0;
  double squares = 0;
  double longer = 0;
  for (const double gap : gaps) {
    sum += gap;
    squares += gap * gap;
    longer += gap > 1;
  }
  const auto n = static_cast<double>(gaps.size());
  EXPECT_NEAR(n, 100'000, 1500);
  EXPECT_NEAR(sum / n, 1, 0.015);
  EXPECT_NEAR(squares / n, 2, 0.06);
  EXPECT_NEAR(longer / n, std::exp(-1), 0.01);
}

TEST(Poisson, HostsSendInProportionToTheirRates) {
  std::vector<BitRate> host_rates = rates(4);
  host_rates[2] = gigabits_per_second(400);
  Traffic traffic =
      poisson(4, SizeDistribution::fixed(Bytes(10'000)), Ratio::from_percent(10), milliseconds(10));
  traffic.flow.start = Instant(milliseconds(5));
  std::map<NodeId, double> sent;
  std::map<NodeId, double> received;
  const std::vector<Flow> flows = flows_of(traffic, host_rates, 1, 0);
  for (const Flow& flow : flows) {
    EXPECT_GE(flow.start, traffic.flow.start);
    sent[flow.from] += 1;
    received[flow.to] += 1;
  }
  // 70 Gb/s for 5 ms.
  const double all = 70e9 * 5e-3 / 8 / 10e3;
  EXPECT_NEAR(static_cast<double>(flows.size()), all, 4 * std::sqrt(all));
  EXPECT_NEAR(sent[2], all * 4 / 7, 0.05 * all);
  EXPECT_NEAR(sent[0], all / 7, 0.05 * all);
  // Whoever does not send to itself sends to each other one alike.
  EXPECT_NEAR(received[2], all * 3 / 7 / 3, 0.05 * all);
  EXPECT_NEAR(received[0], all * (4.0 / 7 + 2.0 / 7) / 3, 0.05 * all);
}

TEST(Poisson, IsDrawnBySeedAndTable) {
  const Traffic traffic =
      poisson(8, shipped_workload("cache").value().sizes, Ratio::from_percent(50), milliseconds(2));
  const auto key = [&](std::uint64_t seed, std::uint32_t number) {
    std::vector<std::uint64_t> out;
    for (const Flow& flow : flows_of(traffic, rates(8), seed, number)) {
      out.insert(out.end(), {flow.from, flow.to, flow.bytes,
                             static_cast<std::uint64_t>(flow.start.since_origin().count())});
    }
    return out;
  };
  EXPECT_EQ(key(1, 0), key(1, 0));
  EXPECT_NE(key(1, 0), key(2, 0));
  EXPECT_NE(key(1, 0), key(1, 1));
}

TEST(Poisson, TheFirstFlowsOfASeedAreTheseOnEveryMachine) {
  const Traffic traffic =
      poisson(8, shipped_workload("websearch").value().sizes, Ratio::from_percent(50), milliseconds(2));
  const std::vector<Flow> flows = flows_of(traffic, rates(8), 1, 0);
  ASSERT_GE(flows.size(), 2u);
  const auto text = [](const Flow& f) {
    return fmt::format("{} -> {}: {} at {}", f.from, f.to, f.bytes, f.start.since_origin().count());
  };
  EXPECT_EQ(text(flows[0]), "2 -> 6: 22995 at 28971864");
  EXPECT_EQ(text(flows[1]), "4 -> 1: 372352 at 32730660");
}

TEST(Poisson, TheLargestThatIsAllowedIsCounted) {
  Traffic traffic = poisson(65536, SizeDistribution::fixed(SizeDistribution::kLongest),
                            Ratio::from_percent(200), seconds(3600));
  const std::vector<BitRate> fast(65536, gigabits_per_second(10'000));
  // 2 x 65536 x 10 Tb/s x 3600 s / 8 / (2^32 - 1)
  EXPECT_NEAR(static_cast<double>(expected_flows(traffic, fast)), 1.3733e11, 1e8);
  traffic.sizes = SizeDistribution::fixed(Bytes(1));
  EXPECT_EQ(expected_flows(traffic, fast), UINT64_MAX);
}

TEST(WithoutWay, NamesTwoHostsOfDifferentIslands) {
  // Even and odd hosts have no way to each other.
  const std::vector<NodeId> islands{0, 1, 0, 1};
  Traffic shifted = among(Pattern::permutation, HostSet::all(4));
  shifted.shift = 1;
  EXPECT_EQ(without_way(shifted, islands), std::pair(0U, 1U));
  shifted.shift = 2;
  EXPECT_EQ(without_way(shifted, islands), std::nullopt);
  EXPECT_EQ(without_way(among(Pattern::bisection, HostSet::all(4)), islands), std::nullopt);
  for (const Pattern pattern : {Pattern::random_permutation, Pattern::all_to_all, Pattern::poisson}) {
    EXPECT_EQ(without_way(among(pattern, HostSet::all(4)), islands), std::pair(0U, 1U));
    EXPECT_EQ(without_way(among(pattern, HostSet::parse("1-3/2").value()), islands), std::nullopt);
  }
}

}  // namespace
}  // namespace rocetune::fabric
