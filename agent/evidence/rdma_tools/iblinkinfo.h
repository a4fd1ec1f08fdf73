// iblinkinfo of infiniband-diags: the links of an InfiniBand fabric. That it answers proves InfiniBand.
#pragma once

#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "congestion/units.h"

namespace rocetune::evidence {

struct FabricLink {
  std::string node;  // "CA: node01 mlx5_0" or "Switch: ..." above it
  std::string far_end;
  int width_lanes = 0;  // 0: down
  double lane_gbps = 0;
  std::string state;     // "Active", "Down"
  std::string could_be;  // "Could be 14.0625 Gbps": what the link would do; empty: it does it
  int line = 0;
};

struct FabricLinks {
  std::vector<FabricLink> links;  // the first kFabricLinksKept, and all that could be more
  std::size_t active = 0, down = 0;
};
inline constexpr std::size_t kFabricLinksKept = 4096;

Format iblinkinfo_format();

}  // namespace rocetune::evidence
