// plan, apply, confirm, rollback, recover, history, persist: the commands that change a host or tell of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/profile.h"
#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

struct ChangeOptions {
  CommonOptions common;
  std::string state_directory = "/var/lib/rocetune";
  std::string config_directory;  // empty: built in
};

// What to plan for.
struct PlanOptions {
  std::string profile;             // name or path
  std::vector<std::string> ports;  // empty: all that qualify
  std::optional<Metres> cable;     // instead of the profile's
  std::optional<Bytes> mtu;
  std::optional<tune::BufferPolicy> buffers;
  bool with_mlnx_qos = false;
};

struct PlanCommand {
  ChangeOptions change;
  PlanOptions plan;
  FabricOptions fabric;
  std::string from;    // snapshot or inspect --json; empty: this host
  std::string output;  // file for the plan as JSON; empty: none
};
ExitCode run_plan(const PlanCommand& command);

struct ApplyCommand {
  ChangeOptions change;
  PlanOptions plan;
  std::string plan_file;  // or a profile
  bool yes = false;
  std::optional<Duration> confirm_within = seconds(600);  // none: commits by itself
  Duration soak = seconds(30);
  std::vector<std::string> allow;
  bool persist = false;
  bool boot = false;
};
ExitCode run_apply(const ApplyCommand& command);

struct ConfirmCommand {
  ChangeOptions change;
  std::optional<std::int64_t> id;
};
ExitCode run_confirm(const ConfirmCommand& command);

struct RollbackCommand {
  ChangeOptions change;
  std::optional<std::int64_t> id;
  bool yes = false;
  Duration soak = seconds(5);
  std::optional<Duration> confirm_within;
  std::vector<std::string> allow;
};
ExitCode run_rollback(const RollbackCommand& command);

ExitCode run_recover(const ChangeOptions& options);

struct HistoryCommand {
  ChangeOptions change;
  std::optional<std::int64_t> id;
  std::string query;  // SQL on the index
};
ExitCode run_history(const HistoryCommand& command);

struct PersistCommand {
  ChangeOptions change;
  bool remove = false;
};
ExitCode run_persist(const PersistCommand& command);

struct DeadmanCommand {
  ChangeOptions change;
  std::int64_t id = 0;
};
ExitCode run_deadman(const DeadmanCommand& command);

}  // namespace rocetune::cli
