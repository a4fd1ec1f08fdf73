// Format "nccl-tests": tables of nccl-tests and rccl-tests of all ages, whole or in parts, and their JSON
// file.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/signs.h"

namespace rocetune::evidence {

// One side of a row: out of place or in place.
struct NcclTestsSide {
  double time_us = 0;
  double algbw_gbytes_per_s = 0;
  double busbw_gbytes_per_s = 0;
};

struct NcclTestsRow {
  std::uint64_t bytes = 0;
  std::optional<NcclTestsSide> out_of_place, in_place;
  int line = 0;

  // The better of both sides.
  double busbw_gbytes_per_s() const;
};

struct NcclTests {
  std::string collective;              // "all_reduce"; empty: not said
  std::optional<int> library_version;  // 22803: nccl-library of the banner
  std::vector<NcclTestsRow> rows;      // the first kMostRows
  std::uint64_t row_count = 0;
  std::vector<double> footers_gbytes_per_s;  // "Avg bus bandwidth", one a run; the first kMostRows
  std::optional<Quote> footer;               // the first
  std::uint64_t footer_count = 0;
  std::uint64_t rank_lines = 0, rank_zero_lines = 0;
  std::set<std::string> hosts;  // of the rank lines
  std::string first_rank;       // the rank line's device: "NVIDIA H100 80GB HBM3"
  static constexpr std::size_t kMostRows = 20000;

  double busbw_max_gbytes_per_s() const;
  double algbw_max_gbytes_per_s() const;
  // The first row whose out-of-place busbw is below half of the best before it.
  const NcclTestsRow* cliff() const;
};

Format nccl_tests_format();

}  // namespace rocetune::evidence
