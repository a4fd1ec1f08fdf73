#include "tools/rocetune/confirmed_state.h"

#include "agent/tune/boot_unit.h"
#include "agent/tune/ledger.h"
#include "dataplane/base/rooted_path.h"

namespace rocetune::cli {

Expected<bool> holds_confirmed_state(const tune::StateDirectory& state) {
  const auto journal = state.read_journal();
  if (!journal) return tl::unexpected(journal.error());
  return tune::Ledger::from(journal->records(), state.journal_path()).map([](const tune::Ledger& ledger) {
    return !tune::confirmed_state(ledger).is_empty();
  });
}

void add_confirmed_state(const std::string& root, host::Host& host) {
  const auto holds =
      RootedPath(root).checked(tune::boot_unit_state_directory(root)).and_then([](const std::string& folder) {
        return holds_confirmed_state(tune::StateDirectory(folder));
      });
  if (holds)
    host.state_confirmed = *holds;
  else
    host.state_confirmed = unavailable(holds.error());
}

}  // namespace rocetune::cli
