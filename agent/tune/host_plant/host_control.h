// One host as a plant's hand on it: asked, changed and watched by running `rocetune` there, here or over ssh.
// Changes are transactions of that host's own: journal, guardrails and dead-man are where they always are,
// and a tuner that dies, or a network that fails, leaves a host that goes back by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "agent/tune/host_plant/process.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

// What came of a change, as `apply --json` says it.
struct Applied {
  std::string
      outcome;  // "waiting", "committed", "rolled_back", "rollback_failed", "refused", "nothing_to_do"
  std::int64_t transaction = 0;
  std::string reason;
};

struct HostAddress {
  std::string name;  // for messages: "gpu3"; empty: this machine
  std::vector<std::string>
      prefix;  // words in front of the command: {"ssh", "-o", "BatchMode=yes", "gpu3"}; empty: none
  std::string rocetune = "rocetune";         // the program there
  std::vector<std::string> options;          // of commands that look at or change the host: {"--root", DIR}
  std::vector<std::string> journal_options;  // of those that write or read its journal: {"--state-dir", DIR}
};

// A transaction as the host's history has it.
struct PastTransaction {
  std::int64_t id = 0;
  std::string phase;    // "applying", "waiting", "rolling_back", "ended"
  std::string outcome;  // of an ended one: "committed", "rolled_back", "rollback_failed", "refused"
  std::string profile;  // what asked for it
  std::int64_t plan_made_at_unix_ns = 0;
  bool is_open() const { return phase != "ended"; }
};

class HostControl {
 public:
  explicit HostControl(HostAddress address) : address_(std::move(address)) {}

  // For messages: "gpu3", "this host".
  std::string name() const { return address_.name.empty() ? "this host" : address_.name; }
  // What a person types to run this on the host: "ssh gpu3 rocetune rollback 7".
  std::string command_line(const std::vector<std::string>& arguments) const;
  // The host's facts. Errors: it cannot be reached, or its rocetune speaks otherwise.
  Expected<host::Host> inspect() const;
  // Applies the plan; it is taken back unless it is confirmed within `dead_man`, or by rollback. `allow`:
  // consents. The host watches its own counters for `soak` before it answers.
  struct Terms {
    Duration dead_man;
    Duration soak;
  };
  Expected<Applied> apply(const Plan& plan, const Terms& terms, const std::vector<std::string>& allow) const;
  Expected<Applied> confirm(std::int64_t transaction) const;
  Expected<Applied> rollback(std::int64_t transaction, const std::vector<std::string>& allow) const;
  // Finishes what a process that died left open; an Error while another one is at work there.
  Expected<Applied> recover() const;
  Expected<std::vector<PastTransaction>> history() const;
  // `watch --json` of these ports, until the process is ended.
  Expected<Process> watch(const std::vector<std::string>& ports, Duration interval) const;

 private:
  enum class Kind { looks, changes, tells };
  std::vector<std::string> words(std::vector<std::string> arguments, Kind kind) const;
  Expected<RunResult> ask(const std::vector<std::string>& arguments, Kind kind) const;
  Expected<Applied> change(const std::vector<std::string>& arguments, const std::string& input) const;

  HostAddress address_;
};

// "gpu3", "root@10.0.0.3": by ssh, with `ssh` (default "ssh -o BatchMode=yes") split at blanks in front.
HostAddress over_ssh(const std::string& destination, const std::string& ssh, const std::string& rocetune);

}  // namespace rocetune::tune
