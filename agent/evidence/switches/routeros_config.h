// RouterOS's `/interface ethernet switch qos ...`. Content: SwitchEvidence, all of it settings.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format routeros_config_format();

}  // namespace rocetune::evidence
