#include "agent/report/verdicts.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/report/combinations.h"
#include "agent/report/losses.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {
namespace {

using fabric::RunResult;
using html::count_text;
using html::counted;
using html::quantity_text;
using html::Verdict;

// Below it nobody would look for the cause.
constexpr double kHeldNoticeably = 0.01;

std::string time_text(double us) { return quantity_text(us, html::kMicroseconds); }

// "5 of 8 flows", "3 of 16 ranks of training".
std::string progress_text(const RunResult& r) {
  std::string out;
  const auto add = [&](std::uint64_t finished, std::uint64_t count, const std::string& what) {
    out +=
        fmt::format("{}{} of {} {}", out.empty() ? "" : ", ", count_text(finished), count_text(count), what);
  };
  if (r.flows.count > 0) add(r.flows.finished, r.flows.count, "flows");
  for (const fabric::JobResult& job : r.jobs) add(job.finished, job.ranks, "ranks of " + job.name);
  return out;
}

Statement ending(const RunResult& r) {
  if (!is_finished(r)) {
    const std::string when = quantity_text(r.virtual_s, html::kSeconds);
    return {
        Verdict::warn,
        r.reached_limit ? "It did not finish within its limit of " + when : "Everything stopped at " + when,
        ": " + progress_text(r) + " are finished."};
  }
  std::string rest;
  if (r.flows.fct_us) {
    rest = fmt::format("{} finished, the slowest after {}", counted(r.flows.count, "flow", "flows"),
                       time_text(r.flows.fct_us->max));
  }
  for (const fabric::JobResult& job : r.jobs) {
    rest += fmt::format("{}{} took {}", rest.empty() ? "" : "; ", job.name,
                        job.iteration_us ? time_text(job.iteration_us->mean) : "no time");
    if (job.iteration_us && job.iteration_us->max > job.iteration_us->min)
      rest += fmt::format(" on average for all its steps, at most {}", time_text(job.iteration_us->max));
  }
  return {Verdict::good, "All traffic came through", rest.empty() ? "." : ": " + rest + "."};
}

Statement loss(const RunResult& r) {
  std::string lost;
  for (const Loss& loss : losses_of(r))
    lost += fmt::format("{}{} {}", lost.empty() ? "" : ", ", count_text(loss.count), loss.what);
  const std::uint64_t again = r.flows.retransmitted_frames;
  const std::string sent_again =
      again == 0 ? std::string() : " " + counted(again, "packet was", "packets were") + " sent again.";
  if (lost.empty()) return {again == 0 ? Verdict::good : Verdict::warn, "Nothing was lost.", sent_again};
  return {Verdict::warn, "Lost", ": " + lost + "." + sent_again};
}

Statement pauses(const RunResult& r) {
  const auto root = std::ranges::find(r.pause_tree, 0, &fabric::PauseCause::depth);
  if (root == r.pause_tree.end()) {
    if (r.pause_frames == 0) return {Verdict::good, "Nobody was paused."};
    return {Verdict::warn, "Pause frames were sent",
            fmt::format(": {}; this result does not say by whom and why.", count_text(r.pause_frames))};
  }
  const auto roots = std::ranges::count(r.pause_tree, 0, &fabric::PauseCause::depth);
  const auto next = std::ranges::find_if(root + 1, r.pause_tree.end(),
                                         [](const fabric::PauseCause& cause) { return cause.depth == 0; });
  std::string rest = fmt::format(" ({}): it held {} for up to {} of the time", root->because, root->held,
                                 quantity_text(root->held_ratio, html::kPercent));
  if (next - root > 1) rest += ", and these held others in turn";
  rest +=
      roots > 1 ? fmt::format("; {} more {} elsewhere.", roots - 1, roots == 2 ? "begins" : "begin") : ".";
  const bool is_noticeable = std::ranges::any_of(
      r.pause_tree, [](const fabric::PauseCause& c) { return c.held_ratio >= kHeldNoticeably; });
  return {is_noticeable ? Verdict::warn : Verdict::good, "Pauses begin at " + root->pauser, rest};
}

Statement checks(const RunResult& r) {
  if (r.checkers.empty()) return {Verdict::warn, "This result holds no checks."};
  return {Verdict::good, fmt::format("All {} checks hold.", r.checkers.size())};
}

}  // namespace

std::vector<Statement> verdicts_of(const RunResult& r) {
  std::vector<Statement> out;
  for (const fabric::CheckerResult& c : r.checkers) {
    if (!c.holds) out.push_back({Verdict::bad, "Violated: " + c.name, ": " + c.found + "."});
  }
  if (r.deadlock) {
    out.push_back({Verdict::bad, "Deadlock",
                   fmt::format(" at {}: {} of priority {} wait for each other in a circle.",
                               time_text(r.deadlock->found_us),
                               counted(r.deadlock->cycle.size(), "port", "ports"), r.deadlock->priority)});
  }
  out.push_back(ending(r));
  out.push_back(loss(r));
  // In a circle there is no beginning.
  if (!r.deadlock) out.push_back(pauses(r));
  if (r.storms > 0 || r.storms_prevented > 0) {
    out.push_back({Verdict::warn, "Pause storms",
                   fmt::format(": {} seen by watchdogs of switches, {} ended by NICs that stopped to hold.",
                               count_text(r.storms), count_text(r.storms_prevented))});
  }
  if (r.is_right()) out.push_back(checks(r));
  std::ranges::stable_sort(out, std::greater<>(), &Statement::verdict);
  return out;
}

std::string evidence_of(const fabric::LessonPoint& point) {
  if (!point.found) return point.metric + ": not in this run";
  const Metric metric = metric_of(point.metric, point.metric);
  return fmt::format("{}: {}", point.metric, quantity_text(*point.found, metric.unit));
}

}  // namespace rocetune::report
