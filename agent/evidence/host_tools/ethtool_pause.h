// 802.3x pause as `ethtool -a` prints it, with the frames counted under "Statistics:" (-I), or its JSON.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ethtool_pause_format();

}  // namespace rocetune::evidence
