// A shorter journal for a host that has been changed, or refused changes, for years. Reading it costs every
// command that looks at it: docs/performance.md has the figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/ledger.h"
#include "agent/tune/state_directory.h"

namespace rocetune::tune {

// Longer than this it is worth making shorter. Origin: a year of one change a day, 50 KiB each.
inline constexpr Bytes kLongJournal{16 << 20};
// Of the newest transactions everything stays, whatever became of them.
inline constexpr std::size_t kRecentTransactions = 100;

// The records, unchanged and in order, of every transaction that anything still follows from: all that were
// committed and are not a mere repetition at boot (the confirmed state, and what may be undone), all whose
// rollback failed, the newest ones. Gone are older ones that were refused or rolled back and boots.
std::vector<Record> needed_records(const std::vector<Record>& records, const Ledger& ledger);

// For the one who holds the lock. Replaces a journal longer than `above` by one of its needed records, if no
// transaction is open, a quarter or more would go, and the new one means the same (confirmed state, failed
// rollback, next number). The whole one stays beside it as journal-until-<last transaction>. At every moment,
// power cut included, the journal's name leads to the old file or to the new one, both whole. Returns the
// path of the one that was put aside; nothing if it was left as it is. Errors: io, denied, bad_input for a
// damaged journal; the journal is then as before.
Expected<std::optional<std::string>> shorten_journal(const StateDirectory& state, Bytes above = kLongJournal);

}  // namespace rocetune::tune
