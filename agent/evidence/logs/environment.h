// Format "env": NAME=value lines of an environment, a script's exports, nccl.conf, a container's description.
#pragma once

#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/logs/settings.h"

namespace rocetune::evidence {

struct Environment {
  std::vector<Setting> settings;  // in the order of lines; a name may occur again
  static constexpr std::size_t kMost = 4096;
};

Format environment_format();

}  // namespace rocetune::evidence
