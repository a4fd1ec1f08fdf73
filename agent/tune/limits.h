// The tables of configs/ that a transaction decides by.
#pragma once

#include "agent/host/nic_row.h"
#include "agent/tune/owners.h"
#include "agent/tune/soak.h"
#include "dataplane/base/config_files.h"

namespace rocetune::tune {

struct Limits {
  SoakLimits soak;      // configs/tune/soak.toml
  OwnerTable owners;    // configs/tune/owners.toml
  host::NicTable nics;  // configs/nics
};

// Error: bad_input with all issues of the file that has some.
Expected<Limits> load_limits(const ConfigFiles& files, const host::NicTable& nics);

}  // namespace rocetune::tune
