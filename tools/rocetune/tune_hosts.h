// `rocetune tune --workload`: the closed loop on hosts, this one or several over ssh.
#pragma once

#include "tools/rocetune/tune.h"

namespace rocetune::cli {

// fine: change and no_change; with --commit the change is in force. bad_input: refused, too. failed_undone:
// interrupted, or the change could not be committed; every host is as it was. failed_not_undone: some host is
// not, and standard error says how to end that.
ExitCode tune_hosts(const TuneCommand& command);

}  // namespace rocetune::cli
