// Format "pair-matrix": one measured rate for each pair of hosts or devices, as lines ("hostA,hostB  12.5")
// or as a table with names as row and column heads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct MeasuredPair {
  std::string a, b;             // row and column of a table
  std::optional<double> value;  // nothing: a word stood there
  std::string word;             // "timeout"
  int line = 0;
};

struct PairMatrix {
  struct Table {
    std::string caption;  // the line in front, or the unit behind the numbers: "256KiB Mbytes/sec"
    std::string row_side, column_side;  // "node0" and "node1" of a head "node0/node1"; empty: not said
    bool is_latency = false;            // larger is worse
    std::vector<MeasuredPair> pairs;    // the first kMostPairs
  };
  std::vector<Table> tables;
  static constexpr std::size_t kMostPairs = 1 << 20;
};

// The pairs with numbers, split at the largest relative gap between neighbours in order.
struct PairSplit {
  std::vector<const MeasuredPair*> slow, fast;
  double slow_median = 0, fast_median = 0;
  double slow_over_fast() const { return slow_median / fast_median; }
};
// Nothing for less than two different rates.
std::optional<PairSplit> split_pairs(const PairMatrix::Table& table);

Format pair_matrix_format();

}  // namespace rocetune::evidence
