// FEC histograms: "Bin0 count" lines, how many codewords had how many symbols corrected.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct FecBin {
  int bin = 0;
  std::uint64_t codewords = 0;
  int line = 0;
};

struct FecHistogram {
  std::vector<FecBin> bins;
};

// "Bin0 123", "Bin 0 : [0:0]  123", "bin[3]: 5", "Bin 12 7". Nothing for other lines.
std::optional<FecBin> fec_bin_of(std::string_view text);

Format fec_histogram_format();

}  // namespace rocetune::evidence
