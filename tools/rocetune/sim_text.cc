#include "tools/rocetune/sim_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/base/statistics.h"

namespace rocetune::cli {
namespace {

constexpr std::size_t kMostRows = 12;  // busiest ports
constexpr std::size_t kMostCauses = 16;

std::string flows_text(const fabric::FlowsResult& flows) {
  std::string out = fmt::format("  flows       {} of {} finished, {:.2f} Gb/s together, fairness {:.3f}\n",
                                flows.finished, flows.count, flows.goodput_gbps, flows.fairness);
  if (flows.fct_us) {
    out += fmt::format("  completion  min {:.1f} us, mean {:.1f}, p50 {:.1f}, p99 {:.1f}, max {:.1f}\n",
                       flows.fct_us->min, flows.fct_us->mean, flows.fct_us->p50, flows.fct_us->p99,
                       flows.fct_us->max);
  }
  if (flows.retransmitted_frames > 0)
    out += fmt::format("  sent again  {} packets\n", flows.retransmitted_frames);
  return out;
}

// The ports with the longest queues, or that paused their peers.
std::string ports_text(const std::vector<fabric::PortResult>& ports, const TextTable::Look& look) {
  std::vector<const fabric::PortResult*> busiest;
  for (const fabric::PortResult& port : ports) {
    if (port.queue_bytes.max > 0 || port.pauses_sent > 0) busiest.push_back(&port);
  }
  const auto weight = [](const fabric::PortResult* p) {
    return std::pair(p->queue_bytes.mean, p->pauses_sent);
  };
  std::ranges::stable_sort(busiest, std::greater<>(), weight);
  TextTable table({{.title = "port"},
                   {.title = "to"},
                   {.title = "queue mean", .unit = "kB", .align = Align::right},
                   {.title = "p99", .unit = "kB", .align = Align::right},
                   {.title = "max", .unit = "kB", .align = Align::right},
                   {.title = "CE", .align = Align::right},
                   {.title = "drops", .align = Align::right},
                   {.title = "Xoff sent", .align = Align::right},
                   {.title = "peer held", .unit = "%", .align = Align::right}});
  for (std::size_t i = 0; i < std::min(busiest.size(), kMostRows); ++i) {
    const fabric::PortResult& p = *busiest[i];
    const auto kb = [](double bytes) { return fmt::format("{:.1f}", bytes / 1e3); };
    table.add_row({p.name, p.peer, kb(p.queue_bytes.mean), kb(static_cast<double>(p.queue_bytes.p99)),
                   kb(static_cast<double>(p.queue_bytes.max)), fmt::format("{}", p.ce_marked),
                   fmt::format("{}", p.drops), fmt::format("{}", p.pauses_sent),
                   fmt::format("{:.1f}", 100 * p.peer_paused_ratio)});
  }
  if (table.is_empty()) return "  no queue anywhere\n";
  TextTable::Look indented = look;
  indented.indent = 2;
  std::string out = table.text(indented);
  if (busiest.size() > kMostRows)
    out += fmt::format("  {} more with shorter queues\n", busiest.size() - kMostRows);
  return out;
}

std::string jobs_text(const std::vector<fabric::JobResult>& jobs, const TextTable::Look& look) {
  std::string out;
  for (const fabric::JobResult& job : jobs) {
    out += fmt::format("  {}: {} of {} ranks finished", job.name, job.finished, job.ranks);
    if (job.iteration_us)
      out += fmt::format("; all steps once: mean {:.1f} us, max {:.1f}", job.iteration_us->mean,
                         job.iteration_us->max);
    out += "\n";
    TextTable table({{.title = "step"},
                     {.title = "what"},
                     {.title = "ranks", .align = Align::right},
                     {.title = "size", .align = Align::right},
                     {.title = "times", .align = Align::right},
                     {.title = "mean", .unit = "us", .align = Align::right},
                     {.title = "p99", .unit = "us", .align = Align::right},
                     {.title = "max", .unit = "us", .align = Align::right},
                     {.title = "busbw", .unit = "Gb/s", .align = Align::right}});
    for (const fabric::StepResult& step : job.steps) {
      const auto time = [&](double fabric::FctSummary::*member) {
        return step.time_us ? fmt::format("{:.1f}", *step.time_us.*member) : std::string("-");
      };
      table.add_row({step.name, step.what, fmt::format("{}", step.ranks),
                     step.bytes > 0 ? to_text(Bytes(static_cast<std::int64_t>(step.bytes))) : "-",
                     fmt::format("{}", step.count), time(&fabric::FctSummary::mean),
                     time(&fabric::FctSummary::p99), time(&fabric::FctSummary::max),
                     step.busbw_gbps ? fmt::format("{:.2f}", *step.busbw_gbps) : std::string("-")});
    }
    TextTable::Look indented = look;
    indented.indent = 4;
    out += table.text(indented);
  }
  return out;
}

std::string theory_text(const fabric::Theory& theory) {
  std::string out = fmt::format("  theory      {} equal flows: {}", theory.flows, theory.says);
  if (theory.queue_bytes) out += fmt::format("; {:.1f} kB", static_cast<double>(*theory.queue_bytes) / 1e3);
  if (theory.phase_margin_degrees)
    out += fmt::format(", phase margin {:.1f} degrees", *theory.phase_margin_degrees);
  return out + " (fluid model)\n";
}

// What was lost, and where; nothing if nothing was.
std::string losses_text(const fabric::RunResult& r) {
  const std::pair<std::uint64_t, std::string_view> losses[] = {
      {r.drops, "dropped in switches for lack of room"},     {r.watchdog_drops, "dropped by watchdogs"},
      {r.link_drops, "dropped before a link that was down"}, {r.lost_frames, "lost on links"},
      {r.receive_drops, "dropped in NICs for lack of room"}, {r.failed_requests, "requests failed"}};
  std::string out;
  for (const auto& [count, what] : losses) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, what);
  }
  return out.empty() ? out : "  lost        " + out + "\n";
}

std::string pauses_text(const fabric::RunResult& r, bool coloured) {
  std::string out;
  if (r.deadlock) {
    std::string circle;
    for (const std::string& port : r.deadlock->cycle) circle += port + " -> ";
    out += painted(fmt::format("  DEADLOCK    priority {}, seen at {:.1f} us: {}{}", r.deadlock->priority,
                               r.deadlock->found_us, circle, r.deadlock->cycle.front()),
                   Paint::severe, coloured) +
           "\n";
  }
  if (r.storms > 0 || r.storms_prevented > 0)
    out +=
        fmt::format("  storms      {} seen by watchdogs of switches, {} ended by NICs that stopped to hold\n",
                    r.storms, r.storms_prevented);
  if (r.pause_tree.empty()) return out;
  out += "  who held whom, causes first:\n";
  for (std::size_t i = 0; i < std::min(r.pause_tree.size(), kMostCauses); ++i) {
    const fabric::PauseCause& cause = r.pause_tree[i];
    out += fmt::format("    {:>{}}{}: {}: held {} (priority {}, {} times, up to {:.1f} % of the time)\n", "",
                       2 * cause.depth, cause.pauser, cause.because, cause.held, cause.priority, cause.xoffs,
                       100 * cause.held_ratio);
  }
  if (r.pause_tree.size() > kMostCauses)
    out += fmt::format("    {} more\n", r.pause_tree.size() - kMostCauses);
  return out;
}

}  // namespace

std::string run_text(const std::string& description, const fabric::RunResult& r,
                     const fabric::Resources& resources, const TextTable::Look& look) {
  std::string out = fmt::format("{}: {}\n", r.scenario, description);
  out += fmt::format("  hosts {}, switches {}, seed {}; {:.3f} ms of virtual time{}\n", r.hosts, r.switches,
                     r.seed, 1e3 * r.virtual_s,
                     r.reached_limit ? " (its limit: not all traffic is finished)" : "");
  if (r.flows.count > 0) out += flows_text(r.flows);
  out += jobs_text(r.jobs, look);
  out += fmt::format("  congestion  {} packets marked CE, {} CNPs sent, {} handled; {} pause frames\n",
                     r.ce_marked, r.cnps_sent, r.cnps_handled, r.pause_frames);
  if (r.theory) out += theory_text(*r.theory);
  out += losses_text(r);
  out += pauses_text(r, look.coloured) + "\n";
  out += ports_text(r.ports, look) + "\n";
  for (const fabric::CheckerResult& c : r.checkers) {
    if (!c.holds)
      out += painted(fmt::format("  VIOLATED: {}: {}", c.name, c.found), Paint::severe, look.coloured) + "\n";
  }
  if (r.is_right()) out += fmt::format("  {} checks hold\n", r.checkers.size());
  out += fmt::format("  {} packet hops in {:.2f} s of processor time, {:.1f} MB; event log {}\n",
                     r.packet_hops, resources.cpu_seconds,
                     static_cast<double>(resources.peak_rss_bytes) / 1e6, r.event_log_sha256.substr(0, 16));
  return out;
}

namespace {

// One figure over the seeds of a combination.
struct Figure {
  double mean = 0, least = 0, most = 0;
};
template <class Value>
std::optional<Figure> figure(std::span<const fabric::Variation> runs, const Value& value) {
  std::vector<double> values;
  for (const fabric::Variation& run : runs) {
    if (const std::optional<double> v = value(run.result)) values.push_back(*v);
  }
  if (values.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(values);
  double sum = 0;
  for (const double v : values) sum += v;
  return Figure{sum / static_cast<double>(values.size()), least, most};
}
std::string figure_text(const std::optional<Figure>& f, int decimals) {
  if (!f) return "-";
  if (f->least == f->most) return fmt::format("{:.{}f}", f->mean, decimals);
  return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", f->mean, decimals, f->least, decimals, f->most, decimals);
}
std::optional<double> fct(const fabric::RunResult& r, double fabric::FctSummary::*member) {
  if (!r.flows.fct_us) return std::nullopt;
  return *r.flows.fct_us.*member;
}
std::optional<double> longest_queue_kb(const fabric::RunResult& r) {
  std::int64_t most = 0;
  for (const fabric::PortResult& port : r.ports) most = std::max(most, port.queue_bytes.max);
  return static_cast<double>(most) / 1e3;
}
std::optional<double> iteration(const fabric::RunResult& r) {
  if (r.jobs.empty() || !r.jobs.front().iteration_us) return std::nullopt;
  return r.jobs.front().iteration_us->mean;
}

}  // namespace

std::string sweep_text(std::span<const fabric::Variation> variations, const TextTable::Look& look) {
  std::vector<TextTable::Column> columns;
  for (const TomlSetting& setting : variations.front().settings) columns.push_back({.title = setting.key});
  for (const auto& [title, unit] : {std::pair("goodput", "Gb/s"),
                                    {"FCT mean", "us"},
                                    {"FCT p99", "us"},
                                    {"steps", "us"},
                                    {"CE", ""},
                                    {"Xoff", ""},
                                    {"drops", ""},
                                    {"again", ""},
                                    {"queue max", "kB"}})
    columns.push_back({.title = title, .unit = unit, .align = Align::right});
  TextTable table(std::move(columns));
  for (std::size_t first = 0; first < variations.size();) {
    std::size_t end = first + 1;
    while (end < variations.size() && variations[end].settings == variations[first].settings) ++end;
    const auto runs = variations.subspan(first, end - first);
    std::vector<TextTable::Cell> row;
    for (const TomlSetting& setting : runs.front().settings) row.emplace_back(setting.value);
    using R = fabric::RunResult;
    using Value = std::optional<double>;
    row.emplace_back(figure_text(figure(runs, [](const R& r) { return Value(r.goodput_gbps); }), 2));
    row.emplace_back(
        figure_text(figure(runs, [](const R& r) { return fct(r, &fabric::FctSummary::mean); }), 1));
    row.emplace_back(
        figure_text(figure(runs, [](const R& r) { return fct(r, &fabric::FctSummary::p99); }), 1));
    row.emplace_back(figure_text(figure(runs, iteration), 1));
    const auto count = [&](std::uint64_t fabric::RunResult::*member) {
      return figure_text(figure(runs, [&](const R& r) { return Value(static_cast<double>(r.*member)); }), 0);
    };
    row.emplace_back(count(&R::ce_marked));
    row.emplace_back(count(&R::pause_frames));
    row.emplace_back(count(&R::drops));
    row.emplace_back(figure_text(
        figure(runs, [](const R& r) { return Value(static_cast<double>(r.flows.retransmitted_frames)); }),
        0));
    row.emplace_back(figure_text(figure(runs, longest_queue_kb), 1));
    table.add_row(std::move(row));
    first = end;
  }
  return table.text(look);
}

}  // namespace rocetune::cli
