// Interfaces as `ip link`, `ip addr` (text and -j) and `ifconfig` print them.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ip_link_format();

}  // namespace rocetune::evidence
