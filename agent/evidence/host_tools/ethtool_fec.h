// FEC of an interface as `ethtool --show-fec` prints it, with its statistics (-I).
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ethtool_fec_format();

}  // namespace rocetune::evidence
