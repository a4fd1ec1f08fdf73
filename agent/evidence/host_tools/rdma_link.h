// Ports of RDMA devices as `rdma link` prints them, old and new, and its JSON.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format rdma_link_format();

}  // namespace rocetune::evidence
