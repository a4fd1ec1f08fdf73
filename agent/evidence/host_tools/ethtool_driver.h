// Driver and firmware of an interface as `ethtool -i` prints them.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ethtool_driver_format();

}  // namespace rocetune::evidence
