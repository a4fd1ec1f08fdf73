// The history index of a build without SQLite.
#include "agent/tune/history_index.h"

namespace rocetune::tune {

Expected<> write_history_index(const Ledger&, const std::string&) {
  return fail(ErrorKind::unsupported, "this build has no SQLite (meson option history)");
}
Expected<QueryResult> query_history(const std::string&, const std::string&) {
  return fail(ErrorKind::unsupported, "this build has no SQLite (meson option history)");
}

}  // namespace rocetune::tune
