#include "agent/report/metric.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "dataplane/fabric/measure.h"

namespace rocetune::report {
namespace {

using Aim = Metric::Aim;

constexpr std::size_t kMostSteps = 6;  // of a job that have a column of their own

// JSON keys end in their unit; the innermost key with a known end decides.
struct UnitOfName {
  std::string_view end;
  html::Unit unit;
  Aim aim;
};
constexpr std::array kUnits{UnitOfName{"_gbps", html::kGigabitRate, Aim::most},
                            UnitOfName{"fct_us", html::kMicroseconds, Aim::least},
                            UnitOfName{"time_us", html::kMicroseconds, Aim::least},
                            UnitOfName{"iteration_us", html::kMicroseconds, Aim::least},
                            UnitOfName{"_us", html::kMicroseconds, Aim::none},
                            UnitOfName{"_s", html::kSeconds, Aim::none},
                            UnitOfName{"_seconds", html::kSeconds, Aim::none},
                            UnitOfName{"bytes", html::kBytes, Aim::none},
                            UnitOfName{"_ratio", html::kPercent, Aim::none},
                            UnitOfName{"fairness", html::kIndex, Aim::most},
                            UnitOfName{"marking", html::kPercent, Aim::none},
                            UnitOfName{"_degrees", html::kIndex, Aim::none}};

Metric without_aim(Metric metric) {
  metric.aim = Aim::none;
  return metric;
}

void add_flows(std::vector<Metric>& out) {
  out.push_back(metric_of("flows.goodput_gbps", "goodput"));
  out.push_back(without_aim(metric_of("flows.fct_us.p50", "completion p50")));
  out.push_back(metric_of("flows.fct_us.p99", "completion p99"));
  out.push_back(without_aim(metric_of("flows.fairness", "fairness")));
}

// The step's name says enough if it is the only one of that name.
void add_job(std::vector<Metric>& out, const fabric::JobResult& job, std::size_t index, bool is_only) {
  const std::string begin = is_only ? std::string() : job.name + ": ";
  out.push_back(metric_of(fmt::format("jobs.{}.iteration_us.mean", index), begin + "all steps once"));
  std::size_t shown = 0;
  for (std::size_t i = 0; i < job.steps.size() && shown < kMostSteps; ++i) {
    const fabric::StepResult& step = job.steps[i];
    if (step.bytes == 0) continue;
    ++shown;
    const std::string path = fmt::format("jobs.{}.steps.{}", index, i);
    out.push_back(metric_of(path + ".busbw_gbps", begin + step.name + " busbw"));
    out.push_back(without_aim(metric_of(path + ".time_us.p99", begin + step.name + " p99")));
  }
}

}  // namespace

Metric metric_of(const std::string& path, std::string title) {
  Metric out{.path = path, .title = std::move(title), .unit = html::kCount};
  for (std::string_view left = path; !left.empty();) {
    const std::size_t dot = left.rfind('.');
    const std::string_view name = dot == std::string_view::npos ? left : left.substr(dot + 1);
    left = dot == std::string_view::npos ? std::string_view() : left.substr(0, dot);
    const auto found = std::ranges::find_if(kUnits, [&](const auto& u) { return name.ends_with(u.end); });
    if (found == kUnits.end()) continue;
    out.unit = found->unit;
    out.aim = found->aim;
    break;
  }
  out.is_of_finished = path.find("fct_us") != std::string::npos || path.starts_with("jobs.");
  return out;
}

Expected<Metric> metric_asked_for(const std::string& path, const std::string& flag) {
  if (const auto problem = fabric::measure_problem(path)) {
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: {}{}", flag, path, problem->allowed,
                problem->nearest.empty() ? "" : "; did you mean " + problem->nearest + "?");
  }
  Metric out = metric_of(path, path);
  out.is_asked_for = true;
  return out;
}

std::vector<Metric> usual_metrics(std::span<const fabric::Variation> runs) {
  std::vector<Metric> out;
  const auto has_flows = [](const fabric::Variation& v) { return v.result.flows.count > 0; };
  if (std::ranges::any_of(runs, has_flows)) add_flows(out);
  // Jobs are the same in all runs but for what is swept.
  const auto& jobs = runs.front().result.jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) add_job(out, jobs[i], i, jobs.size() == 1);
  out.push_back(metric_of("ports.*.queue_bytes.max", "longest queue"));
  out.push_back(metric_of("pause.frames", "pause frames"));
  out.push_back(metric_of("ecn.ce_marked", "CE marked"));
  out.push_back(metric_of("loss.packets", "lost"));
  out.push_back(metric_of("flows.retransmitted_frames", "sent again"));
  return out;
}

std::vector<std::optional<double>> measured(const fabric::RunResult& result,
                                            std::span<const Metric> metrics) {
  const Json document = fabric::document_of(result);
  std::vector<std::optional<double>> out;
  for (const Metric& metric : metrics) out.push_back(number_at(document, metric.path));
  return out;
}

}  // namespace rocetune::report
