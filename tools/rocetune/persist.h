// The boot unit that `apply --persist` and `persist` install.
#pragma once

#include "tools/rocetune/change_session.h"

namespace rocetune::cli {

// Whether a boot unit can be installed here; writes nothing. Errors: see tune::boot_unit_text.
Expected<> can_persist(const ChangeSession& session);

// After an apply: installs the unit if there is, or will be once it is confirmed, a state to bring back.
// `code` is what the apply itself ends with, and what is returned unless the unit was wanted and cannot be
// had.
ExitCode persist_after(const ChangeSession& session, const tune::Result& result, ExitCode code);

}  // namespace rocetune::cli
