// Junos's class-of-service configuration, as `set` lines and in braces. Content: SwitchEvidence, all of it
// settings. Forwarding classes are priorities by their pfc-priority, or by their queue where they have none.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format junos_config_format();

}  // namespace rocetune::evidence
