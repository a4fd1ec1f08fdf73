#include "agent/tune/history.h"

#include <unistd.h>

#include "agent/tune/history_index.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/text_table.h"
#include "tools/rocetune/change_session.h"

namespace rocetune::cli {
namespace {

TextTable::Look look() { return TextTable::Look::for_stream(STDOUT_FILENO, ColourChoice::automatic); }

std::string table_text(const tune::QueryResult& result) {
  std::vector<TextTable::Column> columns;
  for (const std::string& name : result.columns)
    columns.push_back({.title = name, .overflow = Overflow::wrap});
  if (columns.empty()) return "";
  TextTable table(std::move(columns));
  for (const auto& row : result.rows) table.add_row({row.begin(), row.end()});
  return table.text(look());
}

std::string table_json(const tune::QueryResult& result) {
  JsonWriter out;
  out.begin_object().member("schema_version", 1).key("rows").begin_array();
  for (const auto& row : result.rows) {
    out.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) out.member(result.columns[i], row[i]);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

ExitCode run_query(const tune::Ledger& ledger, const tune::StateDirectory& state,
                   const HistoryCommand& command) {
  // The index is as new as the journal; whoever may not write the state directory asks a copy of their own.
  const bool writable = ::access(state.path().c_str(), W_OK) == 0;
  const std::string path =
      writable ? state.index_path() : fmt::format("/tmp/rocetune-history.{}", ::getpid());
  if (auto status = tune::write_history_index(ledger, path); !status) return complain(status.error());
  const auto result = tune::query_history(path, command.query);
  if (!writable) ::unlink(path.c_str());
  if (!result) return complain(result.error());
  print(command.change.common.json ? table_json(*result) : table_text(*result));
  return ExitCode::fine;
}

}  // namespace

ExitCode run_history(const HistoryCommand& command) {
  const tune::StateDirectory state(command.change.state_directory);
  const auto journal = state.read_journal();
  if (!journal) return complain(journal.error());
  const auto ledger = tune::Ledger::from(journal->records(), state.journal_path());
  if (!ledger) return complain(ledger.error());
  if (!command.query.empty()) return run_query(*ledger, state, command);
  const bool json = command.change.common.json;
  const tune::Moment now = tune::current_moment();
  if (!command.id) {
    print(json ? tune::history_json(*ledger) : tune::history_text(*ledger, now, look()));
    return ExitCode::fine;
  }
  const tune::Entry* entry = ledger->find(*command.id);
  if (entry == nullptr) {
    return complain(Error(ErrorKind::bad_input, fmt::format("history: found {}, allowed: 1 to {}",
                                                            *command.id, ledger->next_id() - 1)));
  }
  print(json ? tune::entry_json(*entry) : tune::entry_text(*entry, *ledger, now));
  return ExitCode::fine;
}

}  // namespace rocetune::cli
