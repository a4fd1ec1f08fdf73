// Loaded kernel modules as `lsmod` prints them, whole or grepped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct LoadedModule {
  std::string name;
  std::vector<std::string> users;  // other modules that use it
  int line = 0;
};

struct Lsmod {
  bool is_whole = false;  // has its header: what is not in it is not loaded
  std::vector<LoadedModule> modules;
  const LoadedModule* find(std::string_view name) const;
};

Format lsmod_format();

}  // namespace rocetune::evidence
