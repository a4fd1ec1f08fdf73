// ibv_devinfo of rdma-core, with or without -v: blocks of devices, or GID lines alone. Content: RdmaView.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format ibv_devinfo_format();

}  // namespace rocetune::evidence
