// Runs of a sweep for the tests of what is made of them.
#pragma once

#include "agent/report/combinations.h"

namespace rocetune::report {

// One flow, finished, and nothing wrong.
inline Variation run_with(Settings settings, std::uint64_t seed, double goodput_gbps, double p99_us) {
  Variation out{.settings = std::move(settings), .seed = seed};
  out.result.flows = {
      .count = 1,
      .finished = 1,
      .fct_us = fabric::FctSummary{
          .min = 1, .mean = 1, .p50 = p99_us / 2, .p99 = p99_us, .p999 = p99_us, .max = p99_us}};
  out.result.flows.goodput_gbps = goodput_gbps;
  out.result.checkers = {{"no drop in a lossless class", true, ""}};
  return out;
}

}  // namespace rocetune::report
