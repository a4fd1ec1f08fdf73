// show_gids of the vendors' driver packages: DEV PORT INDEX GID IPv4 VER DEV. Content: RdmaView with GIDs
// only.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format show_gids_format();

}  // namespace rocetune::evidence
