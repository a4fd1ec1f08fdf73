// Whether our journal holds a state that the boot unit would bring back, for commands that show or judge a
// host.
#pragma once

#include <string>

#include "agent/host/model.h"
#include "agent/tune/state_directory.h"

namespace rocetune::cli {

// An absent journal holds none. Errors: denied, bad_input for a damaged one.
Expected<bool> holds_confirmed_state(const tune::StateDirectory& state);

// Fills host.state_confirmed from the journal that the boot unit of `root` names; a journal that is not there
// holds none, one that cannot be read says why.
void add_confirmed_state(const std::string& root, host::Host& host);

}  // namespace rocetune::cli
