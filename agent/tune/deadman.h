// The dead-man timer: a process of its own session that rolls a transaction back when the process that
// applies it dies, or when nobody confirms in time. It decides nothing: it waits for a moment, takes the lock
// and lets recovery look.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/tune/state_directory.h"
#include "agent/tune/transaction.h"

namespace rocetune::tune {

// Whether one runs.
bool deadman_is_alive(const StateDirectory& state);

// Starts `command` (program and arguments) so that it outlives this session: as a transient unit where
// systemd runs, since a session's processes may be ended with it; else as a detached child. Returns when it
// lives. Errors: io if it does not within five seconds.
Expected<> start_deadman(const StateDirectory& state, const std::vector<std::string>& command);

// What the process does: until transaction `id` has ended. `recover` is called with the host's lock held and
// says how it went; `now` and `sleep` are the host's.
struct DeadmanWorld {
  std::function<Moment()> now;
  std::function<void(Duration)> sleep;
  std::function<Expected<Result>()> recover;
};
Expected<Result> run_deadman(const StateDirectory& state, std::int64_t id, const DeadmanWorld& world);

}  // namespace rocetune::tune
