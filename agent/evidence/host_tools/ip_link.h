// Interfaces as `ip link`, `ip addr` (text, -br and -j) and `ifconfig` (old and new) print them.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ip_link_format();

}  // namespace rocetune::evidence
