// A tunable of an interface as `ethtool --get-tunable` prints it: the NIC's stall prevention, in
// milliseconds.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ethtool_tunable_format();

}  // namespace rocetune::evidence
