// Logs, environments and command lines: NCCL, UCX, other programs.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> log_formats();

}  // namespace rocetune::evidence
