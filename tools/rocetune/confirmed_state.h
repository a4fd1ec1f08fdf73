// Whether our journal holds a state that the boot unit would bring back, for commands that show or judge a
// host.
#pragma once

#include <string>

#include "agent/tune/state_directory.h"

namespace rocetune::cli {

// An absent journal holds none. Errors: denied, bad_input for a damaged one.
Expected<bool> holds_confirmed_state(const tune::StateDirectory& state);

}  // namespace rocetune::cli
