// Counters of RDMA devices from sysfs, in the ways that people dump them: "PATH/hw_counters/NAME:VALUE"
// (grep), "PATH: VALUE" (sysinfo-snapshot), "NAME VALUE" or "NAME: VALUE" columns, "==> PATH <==" (head,
// tail), the name and its value on two lines, one file per counter.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format hw_counters_format();

}  // namespace rocetune::evidence
