#include "tools/rocetune/confirmed_state.h"

#include "agent/tune/ledger.h"

namespace rocetune::cli {

Expected<bool> holds_confirmed_state(const tune::StateDirectory& state) {
  const auto journal = state.read_journal();
  if (!journal) return tl::unexpected(journal.error());
  return tune::Ledger::from(journal->records(), state.journal_path()).map([](const tune::Ledger& ledger) {
    return !tune::confirmed_state(ledger).is_empty();
  });
}

}  // namespace rocetune::cli
