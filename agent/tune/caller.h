// Who asked for a change.
#pragma once

#include <string>

#include "agent/tune/record.h"

namespace rocetune::tune {

// From the process' credentials, its environment and, since sudo clears the environment, that of the
// processes above it. What cannot be found stays empty.
Caller current_caller(std::string command);

}  // namespace rocetune::tune
