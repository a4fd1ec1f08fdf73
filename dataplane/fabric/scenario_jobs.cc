#include <numeric>

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

void read_collective(TableReader& t, Rank ranks, JobStep& step) {
  schedule::Request request;
  if (!t.required("collective", request.collective)) return;
  request.algorithm = usual(request.collective);
  t.optional("algorithm", request.algorithm);
  Bytes bytes;
  const bool has_bytes = t.required("bytes", bytes, between(Bytes(kElement), Bytes(engine::kLongestMessage)));
  t.optional("pieces", request.pieces, between(1U, schedule::kMostPieces));
  t.optional("root", request.root);
  const auto grouping = read_grouping(t, ranks);
  if (!grouping || !has_bytes) return;
  if (bytes.count() % kElement != 0) return t.reject("bytes", fmt::format("a multiple of {} B", kElement));
  if (request.collective == Collective::all_to_all && grouping->size > kMostPairwise)
    return t.reject("collective", fmt::format("all_to_all among at most {} ranks", kMostPairwise));
  request.ranks = grouping->size;
  auto made = schedule::Schedule::make(request);
  if (!made) return t.reject("algorithm", made.error().text());
  step.schedule = std::move(*made);
  step.grouping = *grouping;
  step.bytes = static_cast<std::uint64_t>(bytes.count());
}

void read_step(TableReader& t, Job& job) {
  JobStep step;
  t.optional("name", step.name);
  t.optional("compute", step.compute, between(Duration(0), seconds(60)));
  if (t.has("collective")) {
    read_collective(t, static_cast<Rank>(job.hosts.size()), step);
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
  t.required_array_of_tables("steps", [&](TableReader& step) { read_step(step, job); });
  if (job.steps.size() * job.repeat > kMostInstances)
    return t.reject("repeat", fmt::format("at most {} steps in all", kMostInstances));
  out.jobs.push_back(std::move(job));
}

}  // namespace rocetune::fabric
