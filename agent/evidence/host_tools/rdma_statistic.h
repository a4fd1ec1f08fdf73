// Counters of RDMA devices as `rdma statistic` prints them: one line per link, one pair per line (-p), or
// JSON.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format rdma_statistic_format();

}  // namespace rocetune::evidence
