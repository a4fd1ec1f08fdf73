#include "dataplane/fabric/traffic.h"

#include <algorithm>
#include <numeric>

#include "congestion/fixed_point.h"

namespace rocetune::fabric {
namespace {

// Tables draw from streams of their own, far from those of nodes, which are numbered from 0.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 32;

constexpr std::int64_t kBitsPerByte = 8;
constexpr std::int64_t kPicosecondsPerSecond = seconds(1).count();
constexpr int kCountBits = 20;  // of the fraction of an expected number of arrivals
constexpr int kGapBits = 40;    // of the fraction of a gap, in mean gaps

// Running sums, by host of the pattern, of what each sends in proportion to.
std::vector<std::uint64_t> weights_of(const HostSet& hosts, std::span<const BitRate> host_rates) {
  std::vector<std::uint64_t> sums(hosts.size());
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < hosts.size(); ++i)
    sums[i] = sum += static_cast<std::uint64_t>(host_rates[hosts[i]].count());
  return sums;
}

// How many flows arrive on average, in units of 2^-kCountBits. The largest product below is 2^113: 65536
// hosts of 10 Tb/s at a load of 200 % for an hour.
UnsignedWide expected_arrivals(const Traffic& traffic, std::uint64_t rate_of_all) {
  const auto wide = [](std::int64_t n) { return static_cast<UnsignedWide>(n); };
  const UnsignedWide rate = UnsignedWide(rate_of_all) * wide(traffic.load.count()) / wide(Ratio::kOne);
  const UnsignedWide bits =
      rate * wide((traffic.until - traffic.flow.start).count()) / wide(kPicosecondsPerSecond);
  return (bits << kCountBits) / wide(traffic.sizes.mean().count() * kBitsPerByte);
}

// The arrivals of all hosts together are one Poisson process whose arrivals each belong to a host in
// proportion to its rate: they come in order of time, and one stream of random numbers is enough.
std::vector<Flow> poisson(const Traffic& traffic, std::span<const BitRate> host_rates, Random& random) {
  const std::vector<std::uint64_t> weights = weights_of(traffic.hosts, host_rates);
  const UnsignedWide expected = expected_arrivals(traffic, weights.back());
  ROCETUNE_ASSERT(expected >> kCountBits > 0 && expected >> kCountBits <= kMostFlows);
  const auto span = static_cast<std::uint64_t>((traffic.until - traffic.flow.start).count());
  std::vector<Flow> out;
  // Time is counted in mean gaps: no rounding of the mean adds up.
  for (UnsignedWide gaps = 0;;) {
    gaps += static_cast<std::uint64_t>(random.exponential(Duration(std::int64_t{1} << kGapBits)).count());
    const UnsignedWide after = gaps * span / (expected << (kGapBits - kCountBits));
    if (after >= span) return out;
    Flow flow = traffic.flow;
    flow.start = traffic.flow.start + Duration(static_cast<std::int64_t>(after));
    const auto from = std::ranges::upper_bound(weights, random.below(weights.back())) - weights.begin();
    const auto other = static_cast<std::uint32_t>(random.below(traffic.hosts.size() - 1));
    flow.from = traffic.hosts[static_cast<std::uint32_t>(from)];
    flow.to = traffic.hosts[other < from ? other : other + 1];
    flow.bytes = static_cast<std::uint64_t>(traffic.sizes.sample(random).count());
    out.push_back(flow);
  }
}

// A permutation that leaves nothing in its place, all equally likely: of all permutations one in e is one.
std::vector<std::uint32_t> derangement(std::uint32_t n, Random& random) {
  ROCETUNE_ASSERT(n >= 2);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  const auto has_fixed_point = [&] {
    for (std::uint32_t i = 0; i < n; ++i) {
      if (order[i] == i) return true;
    }
    return false;
  };
  do {
    random.shuffle(std::span(order));
  } while (has_fixed_point());
  return order;
}

// Flows between hosts by index.
class Pairs {
 public:
  explicit Pairs(const Traffic& traffic) : traffic_(traffic) {}
  void add(std::uint32_t from, std::uint32_t to) {
    Flow flow = traffic_.flow;
    flow.from = traffic_.hosts[from];
    flow.to = traffic_.hosts[to];
    flows_.push_back(flow);
  }
  void add_shifted(std::uint32_t shift) {
    const std::uint32_t n = traffic_.hosts.size();
    for (std::uint32_t i = 0; i < n; ++i) add(i, (i + shift) % n);
  }
  std::vector<Flow> take() { return std::move(flows_); }

 private:
  const Traffic& traffic_;
  std::vector<Flow> flows_;
};

// The first starts at once, the others one after another. Flows of one sender do not follow each other: every
// sender has started its first before any starts its second.
void stagger(const Traffic& traffic, std::vector<Flow>& flows) {
  const auto count = static_cast<std::int64_t>(flows.size());
  const auto rounds = static_cast<std::int64_t>(traffic.flows_per_sender);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = i % rounds * (count / rounds) + i / rounds;
    Instant& start = flows[static_cast<std::size_t>(i)].start;
    start = start + Duration(static_cast<std::int64_t>(Wide(traffic.stagger.count()) * place / count));
  }
}

std::vector<Flow> incast(const Traffic& traffic) {
  std::vector<Flow> out;
  std::uint32_t left = traffic.senders;
  for (std::uint32_t i = 0; left > 0 && i < traffic.hosts.size(); ++i) {
    Flow flow = traffic.flow;
    flow.from = traffic.hosts[i];
    if (flow.from == flow.to) continue;
    out.insert(out.end(), traffic.flows_per_sender, flow);
    --left;
  }
  return out;
}

bool is_among_all(Pattern pattern) {
  return pattern == Pattern::random_permutation || pattern == Pattern::all_to_all ||
         pattern == Pattern::poisson;
}

}  // namespace

std::uint64_t expected_flows(const Traffic& traffic, std::span<const BitRate> host_rates) {
  const std::uint64_t n = traffic.hosts.size();
  switch (traffic.pattern) {
    case Pattern::pair:
      return 1;
    case Pattern::incast:
      return std::uint64_t{traffic.senders} * traffic.flows_per_sender;
    case Pattern::permutation:
    case Pattern::random_permutation:
    case Pattern::bisection:
      return n;
    case Pattern::all_to_all:
      return n * (n - 1);
    case Pattern::poisson: {
      const auto arrivals = expected_arrivals(traffic, weights_of(traffic.hosts, host_rates).back());
      return static_cast<std::uint64_t>(std::min<UnsignedWide>(arrivals >> kCountBits, UINT64_MAX));
    }
    case Pattern::replay:
      return traffic.replayed.size();
  }
  return 0;
}

std::vector<Flow> flows_of(const Traffic& traffic, std::span<const BitRate> host_rates, std::uint64_t seed,
                           std::uint32_t number) {
  const std::uint32_t n = traffic.hosts.size();
  Random random(seed, kFirstStream + number);
  Pairs pairs(traffic);
  switch (traffic.pattern) {
    case Pattern::pair:
      return {traffic.flow};
    case Pattern::incast: {
      std::vector<Flow> flows = incast(traffic);
      stagger(traffic, flows);
      return flows;
    }
    case Pattern::permutation:
      pairs.add_shifted(traffic.shift);
      break;
    case Pattern::random_permutation: {
      const std::vector<std::uint32_t> to = derangement(n, random);
      for (std::uint32_t i = 0; i < n; ++i) pairs.add(i, to[i]);
      break;
    }
    case Pattern::bisection:
      ROCETUNE_ASSERT(n % 2 == 0);
      pairs.add_shifted(n / 2);
      break;
    case Pattern::all_to_all:
      for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t other = 1; other < n; ++other) pairs.add(i, (i + other) % n);
      }
      break;
    case Pattern::poisson:
      return poisson(traffic, host_rates, random);
    case Pattern::replay:
      return traffic.replayed;
  }
  std::vector<Flow> flows = pairs.take();
  stagger(traffic, flows);
  return flows;
}

std::optional<std::pair<NodeId, NodeId>> without_way(const Traffic& traffic,
                                                     std::span<const NodeId> islands) {
  if (is_among_all(traffic.pattern)) {
    for (std::uint32_t i = 1; i < traffic.hosts.size(); ++i) {
      if (islands[traffic.hosts[i]] != islands[traffic.hosts[0]])
        return std::pair(traffic.hosts[0], traffic.hosts[i]);
    }
    return std::nullopt;
  }
  // Nothing random, no rates: the flows are always the same.
  for (const Flow& flow : flows_of(traffic, {}, 0, 0)) {
    if (islands[flow.from] != islands[flow.to]) return std::pair(flow.from, flow.to);
  }
  return std::nullopt;
}

}  // namespace rocetune::fabric
