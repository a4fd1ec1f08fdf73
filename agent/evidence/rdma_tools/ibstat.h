// ibstat of infiniband-diags: CA 'name', its ports. Content: RdmaView.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ibstat_format();

}  // namespace rocetune::evidence
