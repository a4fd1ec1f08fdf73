// What every changing command opens: tables, the state directory with its lock and journal, the live host.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/counters/schema.h"
#include "agent/host/nic_row.h"
#include "agent/tune/live_host.h"
#include "agent/tune/state_directory.h"
#include "agent/tune/transaction.h"
#include "tools/rocetune/change.h"

namespace rocetune::cli {

// configs/: NIC rows, counter schema, soak limits.
struct Tables {
  static Expected<Tables> load(const std::string& config_directory);
  ConfigFiles files;
  host::NicTable nics;
  counters::Schema schema;
  tune::Limits limits;
};

// The right to change the host. Holds the lock as long as it lives.
class ChangeSession {
 public:
  // Errors: conflict if another process has the lock, bad_input for a damaged journal, denied.
  static Expected<std::unique_ptr<ChangeSession>> open(const ChangeOptions& options);

  const ChangeOptions& options() const { return options_; }
  const Tables& tables() const { return tables_; }
  const tune::StateDirectory& state() const { return state_; }
  tune::LiveHost& host() { return host_; }
  tune::Transactions& transactions() { return transactions_; }
  Expected<tune::Ledger> ledger() const;

  // Finishes what was left open, and sees to it that a waiting transaction has its dead-man. Says so.
  Expected<tune::Result> recover(const tune::Caller& caller);
  // Starts the dead-man of a transaction.
  Expected<> arm(std::int64_t id) const;
  // Prints the result, renews the history's index, gives the exit code.
  ExitCode report(const tune::Result& result);

 private:
  ChangeSession(ChangeOptions options, Tables tables, tune::StateDirectory state, LockFile lock,
                tune::Journal journal);

  ChangeOptions options_;
  Tables tables_;
  tune::StateDirectory state_;
  LockFile lock_;
  tune::Journal journal_;
  tune::LiveHost host_;
  tune::Transactions transactions_;
};

}  // namespace rocetune::cli
