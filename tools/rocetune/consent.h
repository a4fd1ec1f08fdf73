// A person says yes before a host is changed.
#pragma once

#include <string_view>

#include "dataplane/base/error.h"

namespace rocetune::cli {

// A person says yes, or a flag did. Nobody is asked who cannot answer. Error: bad_input.
Expected<> consent(bool yes, std::string_view question);

}  // namespace rocetune::cli
