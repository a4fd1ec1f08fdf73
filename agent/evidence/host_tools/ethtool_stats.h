// Statistics of a network interface as `ethtool -S` prints them: "NIC statistics:" and lines "name: number",
// or some of these lines (a grep). Names are the driver's.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

// Whether a driver may call a statistic this, in a line without the title: "rx_prio3_pause", "[0]:
// rx_discards".
bool is_ethtool_statistic(std::string_view name);

Format ethtool_stats_format();

}  // namespace rocetune::evidence
