// A host that was saved: by `inspect --json`, or in a snapshot.
#pragma once

#include <string>

#include "agent/host/model.h"

namespace rocetune::cli {

// Errors: as the system refused; bad_input for what is neither, or damaged.
Expected<host::Host> read_saved_host(const std::string& path);

}  // namespace rocetune::cli
