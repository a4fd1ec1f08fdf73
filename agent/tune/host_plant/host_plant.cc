#include "agent/tune/host_plant/host_plant.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "dataplane/base/clock.h"
#include "dataplane/base/sha256.h"

namespace rocetune::tune {
namespace {

// The plant watches for itself while load runs.
constexpr Duration kTrialSoak = seconds(1);
constexpr Duration kSettle = seconds(60);  // what applying and reading take beside the workload

std::string identity_of(const HostSpace& space, const HostPlantOptions& options) {
  Sha256 sum;
  for (const FoundHost& found : space.hosts()) {
    sum.add(found.host.name).add(sha256_of(facts_of(found.host, found.ports)));
  }
  for (const WorkloadCommand& workload : options.workloads) sum.add(workload.command);
  for (const Metric& metric : options.metrics) sum.add(metric.text());
  return to_text(sum.finish());
}

std::vector<std::string> confounders_of(const Watching& watching) {
  std::vector<std::string> out;
  if (watching.damaged() > 0)
    out.push_back(fmt::format("{} readings of counters were damaged", watching.damaged()));
  const auto downs = watching.increments().find("link_downs");
  if (downs != watching.increments().end() && downs->second > 0)
    out.push_back(fmt::format("a link went down {} times meanwhile", downs->second));
  return out;
}

}  // namespace

HostPlant::HostPlant(std::vector<HostControl> hosts, HostSpace space, HostPlantOptions options,
                     SoakLimits limits)
    : transactions_(std::move(hosts), options.allow),
      space_(std::move(space)),
      options_(std::move(options)),
      limits_(std::move(limits)) {
  ROCETUNE_ASSERT(transactions_.hosts().size() == space_.hosts().size());
  ROCETUNE_ASSERT(!options_.workloads.empty() && !options_.metrics.empty());
  links_gbps_ = 0;
  for (const FoundHost& found : space_.hosts()) {
    traits_.name += (traits_.name.empty() ? "host " : ", ") + found.host.name;
    for (const std::string& port : found.ports) {
      const auto& link = found.host.find_port(port)->link;
      if (!link || !link->speed) {
        links_gbps_.reset();
      } else if (links_gbps_) {
        *links_gbps_ += static_cast<double>(link->speed->bits_per_second()) * 1e-9;
      }
    }
  }
  traits_.identity = identity_of(space_, options_);
  for (const WorkloadCommand& workload : options_.workloads) {
    workloads_.push_back({.name = workload.name, .weight = 1, .held_out = workload.held_out});
  }
  in_force_ = space_.space().start();
}

bool HostPlant::is_start(const search::Candidate& candidate) const {
  return space_.space().canonical(candidate) == space_.space().start();
}

// Long enough for a trial that begins when another of the same candidate ends, so that it strikes only when
// nobody is there any more.
Duration HostPlant::dead_man() const { return (options_.workload_limit + kSettle) * 2; }

// Makes the candidate the state of all hosts. A sentence: it could not be, and all are as they were. Error:
// some host is not.
Expected<std::optional<std::string>> HostPlant::put(const search::Candidate& candidate, Duration soak) {
  const search::Space& space = space_.space();
  if (in_force_ && space.canonical(*in_force_) == space.canonical(candidate)) {
    // Its dead-man runs on: kept while a whole trial fits in, else applied anew.
    const auto since = transactions_.since();
    if (!since || SystemClock().now() - *since < options_.workload_limit) return std::nullopt;
  }
  std::vector<Plan> plans;
  for (std::size_t h = 0; h < space_.hosts().size(); ++h) {
    auto plan = space_.plan(candidate, h, SystemClock().unix_ns());
    if (!plan) return std::optional(plan.error().text());
    plans.push_back(std::move(*plan));
  }
  in_force_.reset();
  auto trouble = transactions_.apply(plans, {dead_man(), soak});
  if (trouble) in_force_ = *trouble ? space.start() : candidate;
  return trouble;
}

Expected<search::Observation> HostPlant::observe(const search::Request& request, std::stop_token stop) {
  const SystemClock clock;
  const Instant begin = clock.now();
  search::Observation out;
  const auto took = [&] { out.took_ns = (clock.now() - begin) / nanoseconds(1); };
  if (!is_begun_) {
    if (const auto asked = transactions_.check_alone(); !asked) return tl::unexpected(asked.error());
    is_begun_ = true;
  }
  const auto refused = put(request.candidate, kTrialSoak);
  if (!refused) return tl::unexpected(refused.error());
  if (*refused) {
    out.failure = search::Failure{search::FailureKind::not_applied, **refused};
    took();
    return out;
  }
  LoadedRun run{.words = {"/usr/bin/env"},
                .limit = options_.workload_limit,
                .interval = options_.interval,
                .ports = {},
                .forgives = is_start(request.candidate)};
  for (const auto& [name, value] : space_.environment(request.candidate))
    run.words.push_back(name + "=" + value);
  run.words.push_back("ROCETUNE_REPEAT=" + std::to_string(request.repeat));
  run.words.insert(run.words.end(), {"/bin/sh", "-c", options_.workloads[request.workload].command});
  for (const FoundHost& found : space_.hosts()) run.ports.push_back(found.ports);
  Watching watching(limits_);
  LoadedResult result = run_loaded(run, transactions_.hosts(), before_, watching, stop);
  if (!result.stopped) {
    const auto ended = transactions_.check_alone();
    if (!ended && ended.error().kind() == ErrorKind::conflict) return tl::unexpected(ended.error());
    if (!ended && !result.failure) {
      result.failure = search::Failure{search::FailureKind::counters_vanished, ended.error().text()};
    } else if (ended && !ended->empty()) {
      result.failure = search::Failure{search::FailureKind::not_applied, *ended};
      in_force_.reset();
    }
  }
  // Away from what harms, or might unseen, at once and not when the next candidate comes.
  const bool is_blind = result.failure && result.failure->kind == search::FailureKind::counters_vanished;
  if (result.stopped || is_blind || !result.breaches.empty()) {
    if (auto back = restore(); !back) return tl::unexpected(back.error());
  }
  if (result.stopped) return fail(ErrorKind::conflict, "stopped");
  out.breaches = std::move(result.breaches);
  out.failure = std::move(result.failure);
  if (!out.failure && out.breaches.empty()) read_metrics(result, out);
  out.counter_deltas = watching.increments();
  if (const auto ratio = watching.pause_ratio()) {
    out.objectives[search::Objective::pause_ratio] = ratio;
  } else if (watching.frames() > 0 && space_.is_pause_off(request.candidate)) {
    out.objectives[search::Objective::pause_ratio] = 0;
  }
  if (request.with_series) out.series = watching.series();
  if (!watching.vanished().empty() && !out.failure) {
    out.failure = search::Failure{search::FailureKind::counters_vanished,
                                  watching.vanished().front() + ": had counters, and has none any more"};
  }
  out.confounders = confounders_of(watching);
  if (run.forgives) {
    for (const auto& [place, rate] : watching.rates()) {
      double& worst = before_[place];
      worst = std::max(worst, rate);
    }
  }
  took();
  return out;
}

void HostPlant::read_metrics(const LoadedResult& run, search::Observation& out) const {
  for (const Metric& metric : options_.metrics) {
    auto value = metric.read(run.out);
    if (!value) value = metric.read(run.err);
    const auto fail_as = [&](search::FailureKind kind, std::string why) {
      out.failure = search::Failure{kind, metric.text() + ": " + std::move(why)};
    };
    if (!value) {
      return fail_as(search::FailureKind::workload_failed, "not in what the workload printed");
    }
    const search::Objective objective = metric.objective();
    const search::ObjectiveKind& kind = search::kind_of(objective);
    const bool is_rate = objective == search::Objective::goodput || objective == search::Objective::busbw;
    const bool can_be =
        std::isfinite(*value) && (kind.is_ratio_scale ? *value > 0 : *value >= 0 && *value <= 1);
    if (!can_be || (is_rate && links_gbps_ && *value > *links_gbps_ * options_.most_of_links)) {
      return fail_as(search::FailureKind::nonsense,
                     fmt::format("{} {}{}", *value, kind.unit,
                                 can_be ? fmt::format(", links of {} Gb/s together", *links_gbps_) : ""));
    }
    out.objectives[objective] = *value;
  }
}

Expected<> HostPlant::restore() {
  auto back = transactions_.take_back();
  in_force_.reset();
  if (back) in_force_ = space_.space().start();
  return back;
}

Expected<std::vector<std::int64_t>> HostPlant::commit(const search::Candidate& candidate,
                                                      const std::function<bool()>& is_stopped) {
  const auto stopped = [] { return fail(ErrorKind::conflict, "stopped before it was confirmed"); };
  if (is_stopped()) return stopped();
  if (auto back = restore(); !back) return tl::unexpected(back.error());
  const auto refused = put(candidate, options_.commit_soak);
  if (!refused) return tl::unexpected(refused.error());
  if (*refused) return fail(ErrorKind::conflict, "{}", **refused);
  if (is_stopped()) return stopped();
  in_force_.reset();  // what it is from now on is the hosts' start state
  return transactions_.confirm();
}

}  // namespace rocetune::tune
