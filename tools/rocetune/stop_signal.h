// Ctrl-C as a question that a loop asks.
#pragma once

namespace rocetune::cli {

// From now on SIGINT, SIGTERM and SIGHUP do not end the process but make stop_was_asked() true; the second
// such signal ends it.
void stop_on_signals();
bool stop_was_asked();

}  // namespace rocetune::cli
