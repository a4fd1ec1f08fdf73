// Link settings of an interface as `ethtool IF` prints them, or some of its lines.
#pragma once

#include <optional>
#include <string>

#include "agent/evidence/format.h"
#include "congestion/units.h"

namespace rocetune::evidence {

struct EthtoolLink {
  std::string device;
  std::optional<BitRate> speed;
  int speed_line = 0;
  std::optional<BitRate> fastest_supported;   // of the supported link modes
  std::optional<BitRate> fastest_advertised;  // by this port
  std::optional<BitRate> fastest_of_partner;  // what the other end advertised
  std::optional<bool> detected;               // "Link detected"
  std::optional<bool> full_duplex;
  std::string duplex;
};

Format ethtool_link_format();

}  // namespace rocetune::evidence
