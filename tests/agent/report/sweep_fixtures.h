// Runs of a sweep for the tests of what is made of them.
#pragma once

#include "agent/report/combinations.h"

namespace rocetune::report {

// One flow, finished, and nothing wrong.
inline fabric::Variation run_with(std::vector<TomlSetting> settings, std::uint64_t seed, double goodput_gbps,
                                  double p99_us) {
  fabric::Variation out{.settings = std::move(settings)};
  out.result.scenario = "incast";
  out.result.description = "16 to one";
  out.result.seed = seed;
  out.result.flows = {
      .count = 1,
      .finished = 1,
      .fct_us = fabric::FctSummary{
          .min = 1, .mean = 1, .p50 = p99_us / 2, .p99 = p99_us, .p999 = p99_us, .max = p99_us}};
  out.result.flows.goodput_gbps = goodput_gbps;
  out.result.checkers = {{"no drop in a lossless class", true, ""}};
  return out;
}

// A job of one collective, finished, and nothing wrong.
inline fabric::Variation job_with(std::vector<TomlSetting> settings, double time_us, double busbw_gbps) {
  fabric::Variation out{.settings = std::move(settings)};
  const fabric::FctSummary time{time_us, time_us, time_us, time_us, time_us, time_us};
  fabric::JobResult& job = out.result.jobs.emplace_back();
  job = {.name = "training", .ranks = 4, .finished = 4, .iteration_us = time};
  job.steps.push_back({.name = "gradients", .what = "all_reduce ring", .bytes = 1 << 20, .time_us = time});
  job.steps.back().busbw_gbps = busbw_gbps;
  out.result.checkers = {{"no drop in a lossless class", true, ""}};
  return out;
}

}  // namespace rocetune::report
