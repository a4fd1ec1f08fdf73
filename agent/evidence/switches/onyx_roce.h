// Onyx's `show roce`. Content: SwitchEvidence.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format onyx_roce_format();

}  // namespace rocetune::evidence
