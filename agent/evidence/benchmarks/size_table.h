// Formats "osu", "imb" and "ucx-perftest": a rate or time for each message size, between two ranks mostly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct SizeTable {
  enum class Quantity { bandwidth, latency, unknown };
  struct Row {
    std::uint64_t bytes = 0;
    double value = 0;  // Gb/s of a bandwidth, microseconds of a latency
    int line = 0;
  };
  std::string title;  // "OSU MPI Bandwidth Test v7.0", "PingPong", "tag match bandwidth"
  Quantity quantity = Quantity::unknown;
  std::vector<Row> rows;  // the first kMostRows
  static constexpr std::size_t kMostRows = 4096;

  // The largest bandwidth; nothing of another quantity or without rows.
  std::optional<double> best_gbps() const;
};

Format osu_format();
Format imb_format();
Format ucx_perftest_format();

}  // namespace rocetune::evidence
