// Who sends how much to whom and when: one [[flows]] table of a scenario, as plain values, and the flows made
// of it. Everything random is drawn from Random by the scenario's seed and the table's number, in integers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/fabric/host_node.h"
#include "dataplane/fabric/host_set.h"
#include "dataplane/fabric/size_distribution.h"
#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

// `hosts[i]` is written i here, their number n.
enum class Pattern : std::uint8_t {
  pair,                // from -> to
  incast,              // many -> to
  permutation,         // i -> (i + shift) mod n
  random_permutation,  // i -> p(i), p(i) != i; each such p is equally likely
  bisection,           // i -> (i + n/2) mod n: both ways across the middle
  all_to_all,          // i -> every other one, nearest first
  poisson,  // open loop: flows start at random times between random pairs, whatever became of others
  replay,   // as a file says
};

struct Traffic {
  std::string tenant;  // whose it is; empty: nobody's in particular
  Pattern pattern = Pattern::pair;
  HostSet hosts;  // among whom; not of pair and replay
  Flow flow;      // what all have: start, message, window, bytes; a pair's ends, an incast's receiver

  Duration stagger;  // the flows start spread evenly over so long; not of poisson and replay

  std::uint32_t senders = 0;  // incast: so many of `hosts` other than flow.to, the first ones
  std::uint32_t flows_per_sender = 1;
  std::uint32_t shift = 0;  // permutation

  // poisson: arrivals from flow.start to `until`. Each host starts flows in proportion to the rate of its
  // link: their payload is `load` of it. The receiver is any other host, each as likely.
  Ratio load;
  Instant until;
  SizeDistribution sizes = SizeDistribution::fixed(Bytes(1));

  std::vector<Flow> replayed;

  // Its flows are Scenario::flows[first] to [first + count - 1].
  std::size_t first = 0;
  std::size_t count = 0;
};

// Flows of one scenario, all together.
constexpr std::uint64_t kMostFlows = 1U << 20;

// How many flows it has; of poisson: how many it has on average, rounded down.
std::uint64_t expected_flows(const Traffic& traffic, std::span<const BitRate> host_rates);

// Two hosts of which one may send to the other, and has no way to. `islands`: islands_of the topology.
std::optional<std::pair<NodeId, NodeId>> without_way(const Traffic& traffic, std::span<const NodeId> islands);

// The flows, for a seed; `number` is that of the table in its scenario. expected_flows() is at most
// kMostFlows and, of poisson, not 0; hosts are fewer than `host_rates` and enough for the pattern: 2, and an
// even number for bisection.
std::vector<Flow> flows_of(const Traffic& traffic, std::span<const BitRate> host_rates, std::uint64_t seed,
                           std::uint32_t number);

}  // namespace rocetune::fabric
