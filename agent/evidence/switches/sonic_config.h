// Parts of SONiC's config_db.json: as JSON, or tables cut out of it. Content: SwitchEvidence, all of it
// settings.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sonic_config_format();

}  // namespace rocetune::evidence
