#include "tools/rocetune/stop_signal.h"

#include <csignal>
#include <initializer_list>

namespace rocetune::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

}  // namespace

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_asked = 1; };
  // Without SA_RESTART: whoever waits wakes up.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool stop_was_asked() { return stop_asked != 0; }

}  // namespace rocetune::cli
