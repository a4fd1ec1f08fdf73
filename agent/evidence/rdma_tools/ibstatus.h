// ibstatus of infiniband-diags: Infiniband device 'name' port n status. Content: RdmaView.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ibstatus_format();

}  // namespace rocetune::evidence
