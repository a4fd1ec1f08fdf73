#include "agent/tune/host_plant/host_plant.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "dataplane/base/clock.h"
#include "dataplane/base/sha256.h"

namespace rocetune::tune {
namespace {

constexpr Duration kLookAtWorkload = milliseconds(50);
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

std::string last_words(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ')) rest.remove_suffix(1);
  const auto at = rest.rfind('\n');
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  return std::string(rest.substr(0, 200));
}

}  // namespace

HostPlant::HostPlant(std::vector<HostControl> hosts, HostSpace space, HostPlantOptions options,
                     SoakLimits limits)
    : hosts_(std::move(hosts)),
      space_(std::move(space)),
      options_(std::move(options)),
      limits_(std::move(limits)),
      open_(hosts_.size()) {
  ROCETUNE_ASSERT(hosts_.size() == space_.hosts().size());
  ROCETUNE_ASSERT(!options_.workloads.empty() && !options_.metrics.empty());
  for (const FoundHost& found : space_.hosts()) {
    traits_.name += (traits_.name.empty() ? "host " : ", ") + found.host.name;
    for (const std::string& port : found.ports) {
      const auto& link = found.host.find_port(port)->link;
      if (link && link->speed) links_gbps_ += static_cast<double>(link->speed->bits_per_second()) * 1e-9;
    }
  }
  traits_.identity = identity_of(space_, options_);
  for (const WorkloadCommand& workload : options_.workloads) {
    workloads_.push_back({.name = workload.name, .weight = 1, .held_out = workload.held_out});
  }
  in_force_ = space_.space().start();
}

// Long enough for a trial that begins when another of the same candidate ends, so that it strikes only when
// nobody is there any more.
Duration HostPlant::dead_man() const { return (options_.workload_limit + kSettle) * 2; }

// Makes the candidate the state of all hosts. A sentence if it could not be and everything was taken back; an
// Error if a host is neither as it was nor as it should be.
Expected<std::optional<std::string>> HostPlant::put(const search::Candidate& candidate) {
  if (in_force_ && space_.space().canonical(*in_force_) == space_.space().canonical(candidate)) {
    // Its dead-man runs on: kept while a whole trial fits in, else applied anew.
    const Instant now = SystemClock().now();
    const bool strikes_soon = std::any_of(open_.begin(), open_.end(), [&](const Open& o) {
      return o.transaction != 0 && now - o.applied > options_.workload_limit;
    });
    if (!strikes_soon) return std::nullopt;
  }
  if (auto back = restore(); !back) return tl::unexpected(back.error());
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const auto plan = space_.plan(candidate, h, SystemClock().unix_ns());
    std::string why;
    if (!plan) {
      why = plan.error().text();
    } else if (!plan->is_empty()) {
      in_force_.reset();
      const auto applied = hosts_[h].apply(*plan, dead_man(), options_.allow);
      if (!applied) {
        why = applied.error().text();
      } else {
        open_[h] = {applied->outcome == "waiting" ? applied->transaction : 0, SystemClock().now()};
        if (!applied->is_in_force()) why = fmt::format("{}: {}", applied->outcome, applied->reason);
        if (applied->outcome == "rollback_failed") {
          return fail(ErrorKind::conflict, "{}: the change failed and could not be taken back: {}",
                      space_.hosts()[h].host.name, applied->reason);
        }
      }
    }
    if (why.empty()) continue;
    if (auto back = restore(); !back) return tl::unexpected(back.error());
    return fmt::format("{}: {}", space_.hosts()[h].host.name, why);
  }
  in_force_ = candidate;
  return std::nullopt;
}

Expected<search::Observation> HostPlant::observe(const search::Request& request, std::stop_token stop) {
  SystemClock clock;
  const Instant begin = clock.now();
  search::Observation out;
  const auto refused = put(request.candidate);
  if (!refused) return tl::unexpected(refused.error());
  if (*refused) {
    out.failure = search::Failure{search::FailureKind::link_down, "could not be applied: " + **refused};
    out.took_ns = (clock.now() - begin) / nanoseconds(1);
    return out;
  }
  Watching watching(limits_);
  bool stopped = false;
  run_workload(request, out, watching, stop, stopped);
  if (stopped) {
    if (auto back = restore(); !back) return tl::unexpected(back.error());
    return fail(ErrorKind::conflict, "stopped");
  }
  // Away from what harms at once, not when the next candidate comes.
  if (!out.breaches.empty()) {
    if (auto back = restore(); !back) return tl::unexpected(back.error());
  }
  out.counter_deltas = watching.increments();
  if (const auto ratio = watching.pause_ratio()) out.objectives[search::Objective::pause_ratio] = ratio;
  if (request.with_series) out.series = watching.series();
  if (!watching.vanished().empty() && !out.failure) {
    out.failure = search::Failure{search::FailureKind::counters_vanished,
                                  watching.vanished().front() + ": had counters, and has none any more"};
  }
  if (watching.damaged() > 0) {
    out.confounders.push_back(fmt::format("{} readings of counters were damaged", watching.damaged()));
  }
  const auto downs = watching.increments().find("link_downs");
  if (downs != watching.increments().end() && downs->second > 0) {
    out.confounders.push_back(fmt::format("a link went down {} times meanwhile", downs->second));
  }
  if (space_.space().canonical(request.candidate) == space_.space().start()) {
    for (const auto& [place, rate] : watching.rates()) {
      double& worst = before_[place];
      worst = std::max(worst, rate);
    }
  }
  out.took_ns = (clock.now() - begin) / nanoseconds(1);
  return out;
}

void HostPlant::run_workload(const search::Request& request, search::Observation& out, Watching& watching,
                             std::stop_token stop, bool& stopped) {
  std::vector<Process> watchers;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    auto watcher = hosts_[h].watch(space_.hosts()[h].ports, options_.interval);
    if (!watcher) {
      out.failure = search::Failure{search::FailureKind::counters_vanished, watcher.error().text()};
      return;
    }
    watchers.push_back(std::move(*watcher));
  }
  std::vector<std::string> words{"/usr/bin/env"};
  for (const auto& [name, value] : space_.environment(request.candidate)) words.push_back(name + "=" + value);
  words.push_back("ROCETUNE_REPEAT=" + std::to_string(request.repeat));
  words.insert(words.end(), {"/bin/sh", "-c", options_.workloads[request.workload].command});
  auto workload = Process::start(words);
  if (!workload) {
    out.failure = search::Failure{search::FailureKind::workload_failed, workload.error().text()};
    return;
  }
  SystemClock clock;
  const Instant deadline = clock.now() + options_.workload_limit;
  const bool is_start = space_.space().canonical(request.candidate) == space_.space().start();
  const auto look = [&] {
    for (std::size_t h = 0; h < watchers.size(); ++h) {
      watchers[h].read(Duration(0));
      for (const std::string& line : watchers[h].take_lines()) {
        auto breach = watching.take(space_.hosts()[h].host.name, line, before_);
        // What the hosts did before anything was changed is nobody's breach: it is the state to improve on.
        if (breach && !is_start) out.breaches.push_back(std::move(*breach));
      }
    }
  };
  bool timed_out = false;
  for (bool is_open = true; is_open && !stopped && !timed_out && out.breaches.empty();) {
    is_open = workload->read(kLookAtWorkload);
    look();
    stopped = stop.stop_requested();
    timed_out = clock.now() >= deadline;
  }
  if (stopped || timed_out || !out.breaches.empty()) workload->end();
  const int status = workload->wait();
  look();
  if (stopped || !out.breaches.empty()) return;
  if (timed_out) {
    out.failure =
        search::Failure{search::FailureKind::hung, "no end within " + to_text(options_.workload_limit)};
  } else if (status != 0) {
    out.failure =
        search::Failure{search::FailureKind::workload_failed,
                        fmt::format("ended with {}: {}", status,
                                    last_words(workload->err().empty() ? workload->out() : workload->err()))};
  } else {
    read_metrics(workload->out() + "\n" + workload->err(), out);
  }
}

void HostPlant::read_metrics(const std::string& output, search::Observation& out) const {
  for (const Metric& metric : options_.metrics) {
    const auto value = metric.read(output);
    const auto fail_as = [&](search::FailureKind kind, std::string why) {
      out.failure = search::Failure{kind, metric.text() + ": " + std::move(why)};
    };
    if (!value) {
      fail_as(search::FailureKind::workload_failed, "not in what the workload printed");
      return;
    }
    const bool is_rate =
        metric.objective() == search::Objective::goodput || metric.objective() == search::Objective::busbw;
    const bool can_be = std::isfinite(*value) && (is_rate ? *value > 0 : *value >= 0);
    const bool too_fast = is_rate && links_gbps_ > 0 && *value > links_gbps_ * options_.most_of_links;
    if (!can_be || too_fast) {
      fail_as(search::FailureKind::nonsense,
              too_fast ? fmt::format("{:.3g} Gb/s, and all links together carry {:.3g}", *value, links_gbps_)
                       : fmt::format("{}", *value));
      return;
    }
    out.objectives[metric.objective()] = *value;
  }
}

Expected<> HostPlant::restore() {
  std::string failed;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    if (open_[h].transaction == 0) continue;
    const auto back = hosts_[h].rollback(open_[h].transaction, options_.allow);
    if (back && (back->outcome == "rolled_back" || back->outcome == "nothing_to_do")) {
      open_[h].transaction = 0;
      continue;
    }
    failed +=
        fmt::format("{}{}: transaction {} was not taken back: {}; its dead-man does so within {}",
                    failed.empty() ? "" : "; ", space_.hosts()[h].host.name, open_[h].transaction,
                    back ? back->outcome + " " + back->reason : back.error().text(), to_text(dead_man()));
  }
  if (!failed.empty()) {
    in_force_.reset();
    return fail(ErrorKind::conflict, "{}", failed);
  }
  in_force_ = space_.space().start();
  return {};
}

Expected<std::vector<std::int64_t>> HostPlant::commit(const search::Candidate& candidate) {
  const auto refused = put(candidate);
  if (!refused) return tl::unexpected(refused.error());
  if (*refused) return fail(ErrorKind::conflict, "{}", **refused);
  std::vector<std::int64_t> out;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    out.push_back(open_[h].transaction);
    if (open_[h].transaction == 0) continue;
    const auto confirmed = hosts_[h].confirm(open_[h].transaction);
    if (confirmed && confirmed->outcome == "committed") {
      open_[h].transaction = 0;
      continue;
    }
    std::string why =
        fmt::format("{}: not confirmed: {}", space_.hosts()[h].host.name,
                    confirmed ? confirmed->outcome + " " + confirmed->reason : confirmed.error().text());
    // All or none: those before it are undone as committed transactions.
    for (std::size_t done = 0; done < h; ++done) {
      if (out[done] == 0) continue;
      const auto back = hosts_[done].rollback(out[done], options_.allow);
      if (!back || (back->outcome != "rolled_back" && back->outcome != "committed")) {
        why += fmt::format("; {} is still changed: rocetune rollback {}", space_.hosts()[done].host.name,
                           out[done]);
      }
    }
    if (auto back = restore(); !back) why += "; " + back.error().text();
    return fail(ErrorKind::conflict, "{}", why);
  }
  return out;
}

}  // namespace rocetune::tune
