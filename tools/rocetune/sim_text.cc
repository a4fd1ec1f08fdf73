#include "tools/rocetune/sim_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "agent/report/busiest_ports.h"
#include "agent/report/verdicts.h"

namespace rocetune::cli {
namespace {

constexpr std::size_t kMostRows = 12;  // busiest ports
constexpr std::size_t kMostCauses = 16;
constexpr std::size_t kMostNamed = 4;  // settings that do not show a lesson

// For terminals and for what reads their output: blanks that are blanks, and letters of ASCII.
std::string plain(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPlain{
      {{"\u00a0", " "}, {"\u202f", ""}, {"\u00b5", "u"}}};
  for (const auto& [typographic, ascii] : kPlain) {
    for (auto at = text.find(typographic); at != std::string::npos; at = text.find(typographic, at))
      text.replace(at, typographic.size(), ascii);
  }
  return text;
}

std::string verdicts_text(const fabric::RunResult& r, bool coloured) {
  struct Form {
    std::string_view sign;
    Paint paint;
  };
  constexpr std::array kForms{Form{"ok", Paint::good}, Form{"!", Paint::warning}, Form{"BAD", Paint::severe}};
  std::string out;
  for (const report::Statement& s : report::verdicts_of(r)) {
    const Form& form = kForms[static_cast<std::size_t>(s.verdict)];
    out += fmt::format("  {} {}{}\n", painted(fmt::format("{:<3}", form.sign), form.paint, coloured),
                       plain(s.head), plain(s.rest));
  }
  return out;
}

std::string lesson_text(const std::vector<fabric::LessonPoint>& lesson, bool coloured) {
  if (lesson.empty()) return {};
  std::string out = "\n  what this scenario shows:\n";
  for (const fabric::LessonPoint& point : lesson) {
    out += fmt::format(
        "  {} {} ({})\n",
        painted(point.is_seen ? "seen " : "not  ", point.is_seen ? Paint::good : Paint::plain, coloured),
        point.says, plain(report::evidence_of(point)));
  }
  return out;
}

std::string flows_text(const fabric::FlowsResult& flows) {
  std::string out =
      fmt::format("  flows       {} of {} finished, {:.2f} Gb/s together, fairness {:.3f} (Jain)\n",
                  flows.finished, flows.count, flows.goodput_gbps, flows.fairness);
  if (flows.fct_us) {
    out += fmt::format(
        "  completion  min {:.1f} us, mean {:.1f}, p50 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f}\n",
        flows.fct_us->min, flows.fct_us->mean, flows.fct_us->p50, flows.fct_us->p99, flows.fct_us->p999,
        flows.fct_us->max);
  }
  if (flows.slowest.size() > 1) {
    const fabric::FlowResult& slowest = flows.slowest.front();
    out += fmt::format("  slowest     {}, {}: {}{:.2f} Gb/s\n", slowest.name,
                       plain(html::quantity_text(static_cast<double>(slowest.bytes), html::kBytes)),
                       slowest.fct_us ? fmt::format("{:.1f} us, ", *slowest.fct_us) : "unfinished, ",
                       slowest.goodput_gbps);
  }
  return out;
}

// The ports with the longest queues, or that paused their peers.
std::string ports_text(const std::vector<fabric::PortResult>& ports, const TextTable::Look& look) {
  const auto busiest = report::busiest_ports(ports);
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
                     {.title = "p50", .unit = "us", .align = Align::right},
                     {.title = "p99", .unit = "us", .align = Align::right},
                     {.title = "p99.9", .unit = "us", .align = Align::right},
                     {.title = "max", .unit = "us", .align = Align::right},
                     {.title = "busbw", .unit = "Gb/s", .align = Align::right}});
    for (const fabric::StepResult& step : job.steps) {
      const auto time = [&](double fabric::FctSummary::*member) {
        return step.time_us ? fmt::format("{:.1f}", *step.time_us.*member) : std::string("-");
      };
      table.add_row({step.name, step.what, fmt::format("{}", step.ranks),
                     step.bytes > 0 ? to_text(Bytes(static_cast<std::int64_t>(step.bytes))) : "-",
                     fmt::format("{}", step.count), time(&fabric::FctSummary::mean),
                     time(&fabric::FctSummary::p50), time(&fabric::FctSummary::p99),
                     time(&fabric::FctSummary::p999), time(&fabric::FctSummary::max),
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

std::string pauses_text(const fabric::RunResult& r) {
  std::string out;
  if (r.deadlock) {
    std::string circle;
    for (const std::string& port : r.deadlock->cycle) circle += port + " waits for ";
    out += "  in a circle: " + circle + r.deadlock->cycle.front() + "\n";
  }
  if (r.pause_tree.empty()) return out;
  out += "\n  who held whom, causes first:\n";
  for (std::size_t i = 0; i < std::min(r.pause_tree.size(), kMostCauses); ++i) {
    const fabric::PauseCause& cause = r.pause_tree[i];
    out += fmt::format("    {:>{}}{} ({}) held {}: up to {:.1f} % of the time, {}, priority {}\n", "",
                       2 * cause.depth, cause.pauser, cause.because, cause.held, 100 * cause.held_ratio,
                       cause.xoffs == 1 ? "once" : fmt::format("{} times", cause.xoffs), cause.priority);
  }
  if (r.pause_tree.size() > kMostCauses)
    out += fmt::format("    {} more\n", r.pause_tree.size() - kMostCauses);
  return out;
}

}  // namespace

std::string run_text(const fabric::RunResult& r, const fabric::Resources& resources,
                     const TextTable::Look& look) {
  std::string out = fmt::format("{}: {}\n", r.scenario, r.description);
  out += fmt::format("  hosts {}, switches {}, seed {}; {:.3f} ms of virtual time\n\n", r.hosts, r.switches,
                     r.seed, 1e3 * r.virtual_s);
  out += verdicts_text(r, look.coloured) + lesson_text(r.lesson, look.coloured) + "\n";
  if (r.flows.count > 0) out += flows_text(r.flows);
  out += jobs_text(r.jobs, look);
  out += fmt::format("  congestion  {} packets marked CE, {} CNPs sent, {} received; {} pause frames\n",
                     r.ce_marked, r.cnps_sent, r.cnps_handled, r.pause_frames);
  if (r.theory) out += theory_text(*r.theory);
  out += pauses_text(r) + "\n";
  out += ports_text(r.ports, look) + "\n";
  out += fmt::format("  {} packet hops in {:.2f} s of processor time, {:.1f} MB; event log {}\n",
                     r.packet_hops, resources.cpu_seconds,
                     static_cast<double>(resources.peak_rss_bytes) / 1e6, r.event_log_sha256.substr(0, 16));
  return out;
}

std::string fluid_text(const std::string& scenario, const fabric::FluidReport& report) {
  const fabric::Theory& rest = report.rest;
  std::string out = fmt::format("{}: {} equal flows, by the fluid model of DCQCN\n  {}\n\n", scenario,
                                rest.flows, rest.says);
  const auto kb = [](std::int64_t bytes) {
    return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  };
  if (rest.queue_bytes) {
    out += fmt::format(
        "  at rest      queue {}, marked {:.4f} %, alpha {:.4f}, each flow {:.3f} Gb/s, target {:.3f}\n",
        kb(*rest.queue_bytes), 100 * rest.marking.value_or(0), report.alpha.value_or(0),
        report.rate_gbps.value_or(0), report.target_gbps.value_or(0));
    out += rest.phase_margin_degrees
               ? fmt::format("  phase margin {:.1f} degrees\n", *rest.phase_margin_degrees)
               : std::string();
    out += "  convergence  " +
           (report.convergence_us ? fmt::format("{:.1f} ms", *report.convergence_us / 1e3)
                                  : std::string("more than 1 s")) +
           " until rates that differ by a fair share differ by a hundredth of it\n";
  }
  const auto& steady = report.steady;
  return out +
         fmt::format(
             "  in time      0.4 to 0.6 s after a start at line rate: queue mean {}, deviation {}, {} to {}; "
             "link used to {:.1f} %\n",
             kb(steady.queue_mean_bytes), kb(steady.queue_deviation_bytes), kb(steady.queue_minimum_bytes),
             kb(steady.queue_maximum_bytes), 100 * steady.utilisation);
}

std::string metrics_text(const fabric::RunResult& result, std::span<const report::Metric> metrics) {
  const auto values = report::measured(result, metrics);
  std::string out;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    out += fmt::format("{} {}\n", metrics[i].path, values[i] ? fmt::format("{}", *values[i]) : "-");
  return out;
}

namespace {

std::string settings_text(const std::vector<std::string>& keys, const report::Combination& c) {
  std::string out;
  for (std::size_t i = 0; i < keys.size(); ++i)
    out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", keys[i], c.values[i]);
  return out;
}

// Each point with how many runs show it, and, if not all do, with some settings of those that do not.
std::string lessons_text(const report::Sweep& sweep) {
  std::string out;
  for (const report::SweepLesson& lesson : report::lessons_of(sweep)) {
    std::size_t seen = 0, named = 0;
    std::string without;
    for (std::size_t i = 0; i < sweep.combinations.size(); ++i) {
      seen += lesson.seen_in[i];
      if (lesson.seen_in[i] == sweep.combinations[i].runs.size() || sweep.keys.empty()) continue;
      if (++named > kMostNamed) continue;
      without += (named == 1 ? "; not with " : "; ") + settings_text(sweep.keys, sweep.combinations[i]);
    }
    if (seen == 0) without.clear();
    if (seen > 0 && named > kMostNamed) without += fmt::format("; {} more", named - kMostNamed);
    out += fmt::format("  in {} of {} runs: {}{}\n", seen, sweep.runs, lesson.says, without);
  }
  return out.empty() ? out : "what this scenario shows:\n" + out;
}

}  // namespace

std::string sweep_text(const report::Sweep& sweep, const TextTable::Look& look) {
  const report::Shown shown = report::shown_of(sweep);
  std::vector<TextTable::Column> columns;
  for (const std::string& key : sweep.keys) columns.push_back({.title = key});
  std::vector<report::Writing> written;
  for (const std::size_t i : shown.metrics) {
    written.push_back(report::writing_of(sweep, i));
    columns.push_back(
        {.title = sweep.metrics[i].title, .unit = plain(written.back().symbol()), .align = Align::right});
  }
  // Only where there is something to say.
  columns.push_back({.title = ""});
  TextTable table(std::move(columns));
  for (const report::Combination& c : sweep.combinations) {
    std::vector<TextTable::Cell> row(c.values.begin(), c.values.end());
    for (std::size_t m = 0; m < shown.metrics.size(); ++m) {
      const auto spread = report::spread_of(c, shown.metrics[m]);
      std::string figure = spread ? plain(written[m].text(spread->mean)) : "-";
      const std::string range = spread ? plain(written[m].range(*spread, "..")) : std::string();
      if (!range.empty()) figure += " (" + range + ")";
      row.emplace_back(std::move(figure));
    }
    if (!report::is_right(c)) {
      row.emplace_back("WRONG", Paint::severe);
    } else if (report::has_deadlock(c)) {
      row.emplace_back("deadlock", Paint::severe);
    } else if (!report::is_finished(c)) {
      row.emplace_back("unfinished", Paint::warning);
    }
    table.add_row(std::move(row));
  }
  std::string out = table.text(look);
  if (!shown.never.empty()) out += "none in any run: " + shown.never + "\n";
  if (!shown.unknown.empty()) out += "not in these results: " + shown.unknown + "\n";
  out += lessons_text(sweep);
  for (const report::Winner& winner : report::winners_of(sweep)) {
    const report::Combination& c = sweep.combinations[winner.combination];
    const std::string settings = settings_text(sweep.keys, c);
    out += fmt::format("best {}: {} with {}{}\n", sweep.metrics[winner.metric].title,
                       plain(html::quantity_text(report::spread_of(c, winner.metric)->mean,
                                                 sweep.metrics[winner.metric].unit)),
                       settings, report::as_good_text(winner));
  }
  return out;
}

}  // namespace rocetune::cli
