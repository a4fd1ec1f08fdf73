// Offloads of an interface as `ethtool -k` prints them.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ethtool_features_format();

}  // namespace rocetune::evidence
