#include "dataplane/fabric/job_result.h"

#include <algorithm>
#include <numeric>

#include "dataplane/base/statistics.h"

namespace rocetune::fabric {
namespace {

double microseconds_of(Duration d) { return d.seconds() * 1e6; }

constexpr std::size_t kMostSpans = 100;

class JobReader {
 public:
  JobReader(const Network& network, std::size_t job)
      : network_(network), number_(job), job_(network.jobs()[job]) {}

  JobResult read() const {
    JobResult out{.name = job_.name, .ranks = job_.ranks()};
    for (Rank rank = 0; rank < job_.ranks(); ++rank) out.finished += progress(rank).is_finished();
    out.iteration_us = iterations();
    for (std::size_t step = 0; step < job_.steps.size(); ++step) out.steps.push_back(read_step(step));
    return out;
  }

 private:
  const JobRank& progress(Rank rank) const { return network_.rank_of(number_, rank); }

  // From the first begin to the last end of some ranks in some instances; none if not all are done.
  std::optional<JobRank::Span> span(const std::vector<Rank>& ranks, std::size_t first,
                                    std::size_t last) const {
    JobRank::Span out{.begin = Instant::never(), .end = Instant()};
    for (const Rank rank : ranks) {
      const JobRank::Span& to = progress(rank).spans()[last];
      if (to.end == Instant::never()) return std::nullopt;
      out.begin = std::min(out.begin, progress(rank).spans()[first].begin);
      out.end = std::max(out.end, to.end);
    }
    return out;
  }
  std::vector<Rank> all() const {
    std::vector<Rank> out(job_.ranks());
    std::iota(out.begin(), out.end(), Rank{0});
    return out;
  }
  std::optional<FctSummary> iterations() const {
    std::vector<double> times;
    for (std::size_t i = 0; i < job_.repeat; ++i) {
      const std::size_t first = i * job_.steps.size();
      if (const auto time = span(all(), first, first + job_.steps.size() - 1))
        times.push_back(microseconds_of(time->end - time->begin));
    }
    return summary_of(std::move(times));
  }
  StepResult read_step(std::size_t index) const {
    const JobStep& step = job_.steps[index];
    StepResult out{.name = step.name, .what = "compute", .ranks = 1, .groups = job_.ranks()};
    if (step.schedule != nullptr) {
      const schedule::Request& request = step.schedule->request();
      out.what = fmt::format("{} {}", enum_name(request.collective), enum_name(request.algorithm));
      out.ranks = step.grouping.size;
      out.groups = job_.ranks() / step.grouping.size;
      out.bytes = step.bytes;
    }
    const Duration compute = step.schedule == nullptr ? Duration(0) : step.compute;
    std::vector<double> times;
    for (std::size_t i = 0; i < job_.repeat; ++i) {
      const std::size_t instance = i * job_.steps.size() + index;
      for (Rank rank = 0; rank < job_.ranks(); ++rank) {
        if (step.grouping.index_of(rank) != 0) continue;
        std::vector<Rank> members;
        for (Rank m = 0; m < step.grouping.size; ++m)
          members.push_back(step.grouping.member(step.grouping.group_of(rank), m));
        if (const auto time = span(members, instance, instance))
          times.push_back(microseconds_of(time->end - (time->begin + compute)));
      }
      if (out.when.size() >= kMostSpans) continue;
      if (const auto time = span(all(), instance, instance))
        out.when.push_back(
            {microseconds_of(time->begin - Instant()), microseconds_of(time->end - Instant())});
    }
    out.count = times.size();
    out.time_us = summary_of(std::move(times));
    if (step.schedule != nullptr && out.time_us && out.time_us->mean > 0) {
      out.busbw_gbps = static_cast<double>(step.bytes) * 8 / out.time_us->mean / 1e3 *
                       schedule::bus_factor(step.schedule->request().collective, step.grouping.size);
    }
    return out;
  }

  const Network& network_;
  std::size_t number_;
  const Job& job_;
};

}  // namespace

std::optional<FctSummary> summary_of(std::vector<double> microseconds) {
  if (microseconds.empty()) return std::nullopt;
  std::ranges::sort(microseconds);
  return FctSummary{.min = microseconds.front(),
                    .mean = std::accumulate(microseconds.begin(), microseconds.end(), 0.0) /
                            static_cast<double>(microseconds.size()),
                    .p50 = interpolated(microseconds, Ratio::from_percent(50)),
                    .p99 = interpolated(microseconds, Ratio::from_percent(99)),
                    .p999 = interpolated(microseconds, Ratio(999'000'000)),
                    .max = microseconds.back()};
}

std::vector<JobResult> job_results(const Network& network) {
  std::vector<JobResult> out;
  for (std::size_t job = 0; job < network.jobs().size(); ++job) out.push_back(JobReader(network, job).read());
  return out;
}

}  // namespace rocetune::fabric
