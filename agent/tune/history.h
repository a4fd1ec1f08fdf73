// What was done to this host, for people: from the ledger, which is the truth.
#pragma once

#include <optional>
#include <string>

#include "agent/tune/ledger.h"
#include "dataplane/base/text_table.h"

namespace rocetune::tune {

// One line per transaction, newest last: number, when, who, what, end. What needs somebody now comes first.
// `now` tells how long a waiting transaction has; the table is fitted into the look's width.
std::string history_text(const Ledger& ledger, const Moment& now, const TextTable::Look& look = {});

// One transaction in full: who, when, from where, why, each change with before and after and what was read
// back, what happened meanwhile, the end, and the command that takes it back.
std::string entry_text(const Entry& entry, const Ledger& ledger, const Moment& now);

// schema_version, transactions[]; durations and times with their unit in the key.
std::string history_json(const Ledger& ledger);
std::string entry_json(const Entry& entry);

// "2026-11-29 14:03:11 UTC".
std::string time_text(std::int64_t unix_ns);
// "ada (root by sudo) from 10.0.0.9 on pts/1".
std::string caller_text(const Caller& caller);
// "waits for confirmation, 9min 58s left", "committed", "ROLLBACK FAILED".
std::string state_text(const Entry& entry, const Moment& now);

}  // namespace rocetune::tune
