// Format "ucx-log": what UCX says of failed completions and of the queue pair they happened on.
#pragma once

#include "agent/evidence/format.h"
#include "agent/evidence/logs/settings.h"
#include "agent/evidence/signs.h"

namespace rocetune::evidence {

struct UcxLog {
  Signs signs;
};

Format ucx_log_format();

}  // namespace rocetune::evidence
