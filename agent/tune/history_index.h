// The history as an SQLite file, for queries and other programs. Made from the ledger whenever it is asked
// for and the journal has moved on; deleting it loses nothing. An optional part of the build.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/ledger.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// Tables: transactions(id, host, kind, profile, began_unix_ns, ended_unix_ns, user, sudo_user, terminal,
// ssh_client, command, phase, outcome, reason, undone_by), changes(transaction_id, step, port, knob,
// parameter, before, after, read_back, rule, why, revert), notes(transaction_id, kind, text); before, after
// and read_back are JSON. Errors: unsupported if the build has no SQLite; io.
Expected<> write_history_index(const Ledger& ledger, const std::string& path);

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
// One SELECT on an index, read-only. Errors: bad_input with SQLite's words; unsupported; io.
Expected<QueryResult> query_history(const std::string& path, const std::string& sql);

}  // namespace rocetune::tune
