// Drivers that talk to their peer over a socket (net_virtio_user) write to it without asking for no signal.
#pragma once

#include <csignal>
#include <ctime>

namespace rocetune::dpdk {

// While it lives, a write to a socket whose other end has gone is an error and no SIGPIPE for the thread that
// made it, nor ever for threads that are started meanwhile.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    const sigset_t pipe = only_pipe();
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;
  ~NoBrokenPipeSignal() {
    const sigset_t pipe = only_pipe();
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static sigset_t only_pipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace rocetune::dpdk
