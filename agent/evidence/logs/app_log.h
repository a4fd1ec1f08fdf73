// Format "app-log": logs of programs that use verbs themselves (Mooncake, NVSHMEM, DeepEP, Gloo, SPDK,
// engines around them) and the warnings of libibverbs.
#pragma once

#include "agent/evidence/format.h"
#include "agent/evidence/signs.h"
#include "agent/evidence/verbs_words.h"

namespace rocetune::evidence {

struct AppLog {
  Signs signs;
  std::optional<CqeDump::Error> cqe;
};

Format app_log_format();

}  // namespace rocetune::evidence
