// `nv set qos ...` and `nv set interface ...` of Cumulus Linux. Content: SwitchEvidence, all of it settings.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format nvue_config_format();

}  // namespace rocetune::evidence
