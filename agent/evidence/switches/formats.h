// Outputs and configurations of switches: SONiC, Cumulus, EOS, NX-OS, Junos, Onyx, RouterOS, ASIC dumps.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> switch_formats();

}  // namespace rocetune::evidence
