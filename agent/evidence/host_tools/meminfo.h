// Memory of a host: lines of /proc/meminfo.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format meminfo_format();

}  // namespace rocetune::evidence
