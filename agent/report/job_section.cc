#include "agent/report/job_section.h"

#include <fmt/core.h>

#include "dataplane/html/markup.h"
#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::count_text;
using html::escaped;
using html::quantity_text;
using html::Table;

constexpr std::size_t kMostTiles = 8;  // of steps

}  // namespace

void add_job_tiles(html::Tiles& tiles, const std::vector<fabric::JobResult>& jobs) {
  std::size_t shown = 0;
  for (const fabric::JobResult& job : jobs) {
    if (job.iteration_us)
      tiles.add({.title = job.name,
                 .value = quantity_text(job.iteration_us->mean, html::kMicroseconds),
                 .note = "all steps once, mean"});
    if (job.finished < job.ranks)
      tiles.add({.title = job.name + ": ranks finished",
                 .value = fmt::format("{} / {}", count_text(job.finished), count_text(job.ranks)),
                 .is_notable = true});
    for (const fabric::StepResult& step : job.steps) {
      if (!step.busbw_gbps || ++shown > kMostTiles) continue;
      tiles.add({.title = step.name + " busbw",
                 .value = quantity_text(*step.busbw_gbps, html::kGigabitRate),
                 .note = step.what});
    }
  }
}

std::string jobs_section(const std::vector<fabric::JobResult>& jobs) {
  std::string out;
  for (const fabric::JobResult& job : jobs) {
    out += fmt::format(
        "<h2>{}</h2>\n<p class='faint'>{} of {} ranks finished. A step's time runs from the first "
        "rank of a group that was ready to the last that was done.</p>\n",
        escaped(job.name), count_text(job.finished), count_text(job.ranks));
    Table table({{.title = "step", .align = Align::left},
                 {.title = "what", .align = Align::left},
                 {.title = "ranks"},
                 {.title = "size"},
                 {.title = "times"},
                 {.title = "mean"},
                 {.title = "p50"},
                 {.title = "p99"},
                 {.title = "p99.9"},
                 {.title = "max"},
                 {.title = "busbw", .explanation = "bus bandwidth by the mean time, as nccl-tests has it"}});
    for (const fabric::StepResult& step : job.steps) {
      const auto time = [&](double fabric::FctSummary::*member) {
        return step.time_us ? quantity_text(*step.time_us.*member, html::kMicroseconds) : std::string("–");
      };
      table.add_row({step.name, step.what, count_text(step.ranks),
                     step.bytes > 0 ? to_text(Bytes(static_cast<std::int64_t>(step.bytes))) : "–",
                     count_text(step.count), time(&fabric::FctSummary::mean), time(&fabric::FctSummary::p50),
                     time(&fabric::FctSummary::p99), time(&fabric::FctSummary::p999),
                     time(&fabric::FctSummary::max),
                     step.busbw_gbps ? quantity_text(*step.busbw_gbps, html::kGigabitRate) : "–"});
    }
    out += table.text();
  }
  return out;
}

}  // namespace rocetune::report
