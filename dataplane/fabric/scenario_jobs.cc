#include <algorithm>
#include <map>
#include <numeric>

#include "dataplane/fabric/aggregation_tree.h"
#include "dataplane/fabric/host_set.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

using schedule::Algorithm;
using schedule::Collective;

constexpr Rank kMostPairwise = 1024;  // ranks of one all_to_all: each pair has a connection

Algorithm usual(Collective collective) {
  switch (collective) {
    case Collective::all_to_all:
      return Algorithm::pairwise;
    case Collective::broadcast:
    case Collective::reduce:
      return Algorithm::tree;
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::all_gather:
      break;
  }
  return Algorithm::ring;
}

// Groups of `group` ranks `stride` apart; all of them unless it says otherwise.
std::optional<Grouping> read_grouping(TableReader& t, Rank ranks) {
  Grouping out{.size = ranks};
  const bool has_group = t.optional("group", out.size, between(2U, ranks));
  t.optional("stride", out.stride, between(1U, ranks));
  if (!has_group) out.size = ranks / out.stride;
  if (out.size < 2 || ranks % (out.size * out.stride) != 0) {
    t.reject(has_group ? "group" : "stride", fmt::format("group x stride that divides {} ranks", ranks));
    return std::nullopt;
  }
  return out;
}

// in_network: what is reduced and sent on at once, unless `pieces` says otherwise. Enough for what is under
// way on one link, little for the tree to fill.
constexpr std::int64_t kPiece = 128 * 1024;

std::vector<NodeId> hosts_of(const Job& job, const Grouping& grouping, Rank group) {
  std::vector<NodeId> out;
  for (Rank index = 0; index < grouping.size; ++index)
    out.push_back(job.hosts[grouping.member(group, index)]);
  return out;
}

// Every group's tree and schedule. Issues are recorded.
bool make_trees(TableReader& t, const Topology& topology, const Job& job, schedule::Request request,
                JobStep& step) {
  if (topology.switches > AggregationTrees::kMostSwitches) {
    t.issue("algorithm", fmt::format("in_network on {} switches", topology.switches),
            fmt::format("at most {}", AggregationTrees::kMostSwitches));
    return false;
  }
  AggregationTrees trees(topology);
  const Rank groups = job.ranks() / step.grouping.size;
  for (Rank group = 0; group < groups; ++group) {
    AggregationTree tree = trees.of(hosts_of(job, step.grouping, group), group);
    request.parents = std::move(tree.parents);
    std::uint64_t most = 0;  // receives of one reducer
    std::map<Rank, std::uint64_t> children;
    for (const Rank parent : request.parents) most = std::max(most, ++children[parent]);
    if ((most + 1) * request.pieces > kMostReceives) {
      t.issue("pieces", fmt::format("{} of {} at one switch", request.pieces, most),
              fmt::format("at most {} in all", kMostReceives));
      return false;
    }
    auto made = schedule::Schedule::make(request);
    if (!made) {
      t.reject("algorithm", made.error().text());
      return false;
    }
    step.trees.push_back({.schedule = std::move(*made), .switches = std::move(tree.switches)});
  }
  step.schedule = step.trees.front().schedule;
  return true;
}

// Two ranks of one group of which one sends to the other, and has no way to.
std::optional<std::pair<NodeId, NodeId>> without_way(const Scenario& scenario, const Job& job,
                                                     const JobStep& step) {
  const std::vector<NodeId> islands = islands_of(scenario.topology);
  for (Rank group = 0; group < job.ranks() / step.grouping.size; ++group) {
    const std::vector<NodeId> hosts = hosts_of(job, step.grouping, group);
    if (std::ranges::all_of(hosts, [&](NodeId host) { return islands[host] == islands[hosts[0]]; })) continue;
    for (Rank index = 0; index < step.grouping.size; ++index) {
      for (std::uint32_t i = 0; i < step.schedule->sends(index); ++i) {
        const Rank to = step.schedule->send(index, i).to;
        // By way of a switch, or straight.
        const NodeId peer = to < hosts.size() ? hosts[to] : hosts[index == 0 ? 1 : 0];
        if (islands[peer] != islands[hosts[index]] && !scenario.options.server.joins(peer, hosts[index]))
          return std::pair(hosts[index], peer);
      }
    }
  }
  return std::nullopt;
}

void read_collective(TableReader& t, const Scenario& scenario, const Job& job, JobStep& step) {
  schedule::Request request;
  if (!t.required("collective", request.collective)) return;
  request.algorithm = usual(request.collective);
  t.optional("algorithm", request.algorithm);
  Bytes bytes;
  const bool has_bytes = t.required("bytes", bytes, between(Bytes(kElement), Bytes(engine::kLongestMessage)));
  const bool has_pieces = t.optional("pieces", request.pieces, between(1U, schedule::kMostPieces));
  t.optional("root", request.root);
  const auto grouping = read_grouping(t, job.ranks());
  if (!grouping || !has_bytes) return;
  if (bytes.count() % kElement != 0) return t.reject("bytes", fmt::format("a multiple of {} B", kElement));
  if (request.collective == Collective::all_to_all && grouping->size > kMostPairwise)
    return t.reject("collective", fmt::format("all_to_all among at most {} ranks", kMostPairwise));
  request.ranks = grouping->size;
  step.grouping = *grouping;
  step.bytes = static_cast<std::uint64_t>(bytes.count());
  if (request.algorithm == Algorithm::in_network && request.collective == Collective::all_reduce) {
    const std::int64_t pieces = std::clamp<std::int64_t>(bytes.count() / kPiece, 1, schedule::kMostPieces);
    if (!has_pieces) request.pieces = static_cast<std::uint32_t>(pieces);
    if (!make_trees(t, scenario.topology, job, request, step)) return;
  } else {
    auto made = schedule::Schedule::make(request);
    if (!made) return t.reject("algorithm", made.error().text());
    step.schedule = std::move(*made);
  }
  if (const auto pair = without_way(scenario, job, step))
    t.issue("collective", fmt::format("hosts {} and {}", pair->first, pair->second),
            "hosts that have a way to each other");
}

void read_step(TableReader& t, const Scenario& scenario, Job& job) {
  JobStep step;
  t.optional("name", step.name);
  t.optional("compute", step.compute, between(Duration(0), seconds(60)));
  if (t.has("collective")) {
    read_collective(t, scenario, job, step);
  } else if (step.compute == Duration(0)) {
    t.reject("collective", "a collective, or a time to compute");
  }
  if (step.name.empty()) {
    step.name =
        step.schedule == nullptr ? "compute" : std::string(enum_name(step.schedule->request().collective));
  }
  job.steps.push_back(std::move(step));
}

}  // namespace

void read_jobs(TableReader& t, Scenario& out) {
  Job job;
  t.optional("name", job.name);
  if (job.name.empty()) job.name = fmt::format("job {}", out.jobs.size());
  const std::uint32_t hosts = out.topology.hosts;
  if (hosts < 2) return;  // its own issue
  if (t.has("hosts")) {
    HostSet set;
    if (!t.required("hosts", set)) return;
    if (set.size() < 2 || set.largest() >= hosts)
      return t.reject("hosts", fmt::format("two or more hosts below {}", hosts));
    for (std::uint32_t i = 0; i < set.size(); ++i) job.hosts.push_back(set[i]);
  } else {
    job.hosts.resize(hosts);
    std::iota(job.hosts.begin(), job.hosts.end(), NodeId{0});
  }
  Duration start;
  t.optional("start", start, between(Duration(0), out.limit));
  job.start = Instant(start);
  t.optional("repeat", job.repeat, between(1U, kMostInstances));
  t.optional("window", job.window, between(1U, 256U));
  t.required_array_of_tables("steps", [&](TableReader& step) { read_step(step, out, job); });
  if (job.steps.size() * job.repeat > kMostInstances)
    return t.reject("repeat", fmt::format("at most {} steps in all", kMostInstances));
  out.jobs.push_back(std::move(job));
}

void place_reducers(Scenario& out, Duration delay) {
  std::map<std::uint32_t, NodeId> engines;  // by switch
  const auto each_tree = [&](const auto& visit) {
    for (Job& job : out.jobs) {
      for (std::uint32_t step = 0; step < job.steps.size(); ++step) {
        std::vector<JobStep::Tree>& trees = job.steps[step].trees;
        for (Rank group = 0; group < trees.size(); ++group) visit(job, step, group, trees[group]);
      }
    }
  };
  each_tree([&](Job&, std::uint32_t, Rank, const JobStep::Tree& tree) {
    for (const std::uint32_t index : tree.switches) engines.emplace(index, 0);
  });
  if (engines.empty()) return;
  std::vector<std::uint32_t> switches;
  for (auto& [index, engine] : engines) {
    engine = out.topology.hosts + static_cast<NodeId>(switches.size());
    switches.push_back(index);
  }
  out.topology = with_reducers(out.topology, switches, delay);
  each_tree([&](Job& job, std::uint32_t step, Rank group, JobStep::Tree& tree) {
    tree.first_reducer = static_cast<Rank>(job.hosts.size());
    for (Rank index = 0; index < tree.switches.size(); ++index) {
      job.hosts.push_back(engines.at(tree.switches[index]));
      job.reducers.push_back({step, group, index});
    }
  });
}

}  // namespace rocetune::fabric
