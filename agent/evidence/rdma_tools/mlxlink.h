// mlxlink: state, speed, FEC, bit error ratios of one port, as text or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/rdma_tools/fec_histogram.h"
#include "congestion/units.h"

namespace rocetune::evidence {

struct MlxlinkReport {
  std::string state, physical_state;  // "Active", "LinkUp"
  std::optional<BitRate> speed;       // of an active port
  std::string width, fec;             // "4x", "Standard_RS-FEC - (544,514)"
  std::optional<std::uint64_t> effective_errors, symbol_errors, link_downs;
  std::optional<double> effective_ber, symbol_ber, raw_ber;  // 15E-255 stands for none: 0
  std::vector<std::uint64_t> raw_errors_of_lane;
  std::vector<FecBin> bins;
  std::optional<double> minutes_since_clear;
  std::string recommendation;  // troubleshooting, unless "No issue was observed"
  int line = 0, state_line = 0, effective_line = 0, symbol_line = 0, lanes_line = 0, downs_line = 0,
      recommendation_line = 0, speed_line = 0;

  bool is_active() const { return state == "Active"; }
};

Format mlxlink_format();

}  // namespace rocetune::evidence
