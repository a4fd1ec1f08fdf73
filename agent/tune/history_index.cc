#include "agent/tune/history_index.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "agent/host/knob_json.h"
#include "dataplane/base/utf8.h"

namespace rocetune::tune {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE transactions(id INTEGER PRIMARY KEY, host TEXT, kind TEXT, profile TEXT, began_unix_ns INTEGER,
  ended_unix_ns INTEGER, user TEXT, sudo_user TEXT, terminal TEXT, ssh_client TEXT, command TEXT, phase TEXT,
  outcome TEXT, reason TEXT, undone_by INTEGER);
CREATE TABLE changes(transaction_id INTEGER, step INTEGER, port TEXT, knob TEXT, parameter TEXT, before TEXT,
  after TEXT, read_back TEXT, rule TEXT, why TEXT, revert TEXT);
CREATE TABLE notes(transaction_id INTEGER, kind TEXT, text TEXT);
CREATE INDEX changes_of ON changes(transaction_id, step);
)";

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

tl::unexpected<Error> failed_sql(sqlite3* db, ErrorKind kind, std::string_view what) {
  return tl::unexpected(Error(kind, fmt::format("{}: {}", what, sqlite3_errmsg(db))));
}

Expected<Database> open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database db(raw);
  if (code != SQLITE_OK) return failed_sql(db.get(), ErrorKind::io, path);
  return db;
}

// One INSERT with as many values as it has question marks.
class Insert {
 public:
  static Expected<Insert> prepare(sqlite3* db, const char* sql) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &raw, nullptr) != SQLITE_OK)
      return failed_sql(db, ErrorKind::io, sql);
    return Insert(db, Statement(raw));
  }
  Insert& add(std::int64_t number) {
    sqlite3_bind_int64(statement_.get(), ++at_, number);
    return *this;
  }
  Insert& add(std::string_view text) {
    sqlite3_bind_text(statement_.get(), ++at_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Insert& add_null() {
    sqlite3_bind_null(statement_.get(), ++at_);
    return *this;
  }
  Insert& add(const std::optional<std::int64_t>& number) { return number ? add(*number) : add_null(); }
  Insert& add(const host::KnobValue* value) { return value ? add(host::to_json_text(*value)) : add_null(); }
  Expected<> run() {
    const int code = sqlite3_step(statement_.get());
    sqlite3_reset(statement_.get());
    at_ = 0;
    if (code != SQLITE_DONE) return failed_sql(db_, ErrorKind::io, "insert");
    return {};
  }

 private:
  Insert(sqlite3* db, Statement statement) : db_(db), statement_(std::move(statement)) {}
  sqlite3* db_;
  Statement statement_;
  int at_ = 0;
};

Expected<> insert_entry(const Entry& entry, Insert& transactions, Insert& changes, Insert& notes) {
  const Caller& who = entry.begin.caller;
  const Plan& plan = entry.begin.plan;
  transactions.add(entry.id)
      .add(plan.host)
      .add(enum_name(plan.kind))
      .add(plan.profile)
      .add(entry.began.unix_ns);
  entry.is_open() ? transactions.add_null() : transactions.add(entry.last.unix_ns);
  transactions.add(who.user).add(who.sudo_user).add(who.terminal).add(who.ssh_client).add(who.command);
  transactions.add(enum_name(entry.phase));
  entry.outcome ? transactions.add(enum_name(*entry.outcome)) : transactions.add_null();
  transactions.add(entry.end_reason.empty() ? entry.rollback_reason : entry.end_reason).add(entry.undone_by);
  if (auto status = transactions.run(); !status) return status;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const Change& change : plan.steps[i].changes) {
      const auto read = entry.read_back.find(change.knob);
      const bool known = read != entry.read_back.end() && read->second.value;
      changes.add(entry.id)
          .add(static_cast<std::int64_t>(i))
          .add(change.knob.port)
          .add(enum_name(change.knob.kind));
      changes.add(change.knob.parameter).add(entry.before(change)).add(&change.after);
      changes.add(known ? &*read->second.value : nullptr);
      changes.add(change.rule).add(change.why).add(enum_name(change.revert));
      if (auto status = changes.run(); !status) return status;
    }
  }
  for (const auto& [kind, texts] : {std::pair{"note", &entry.notes}, std::pair{"residue", &entry.residue}}) {
    for (const std::string& text : *texts) {
      if (auto status = notes.add(entry.id).add(kind).add(text).run(); !status) return status;
    }
  }
  return {};
}

Expected<> fill(sqlite3* db, const Ledger& ledger) {
  if (sqlite3_exec(db, "PRAGMA synchronous=OFF; BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK ||
      sqlite3_exec(db, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failed_sql(db, ErrorKind::io, "create");
  }
  auto transactions = Insert::prepare(db, "INSERT INTO transactions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  auto changes = Insert::prepare(db, "INSERT INTO changes VALUES(?,?,?,?,?,?,?,?,?,?,?)");
  auto notes = Insert::prepare(db, "INSERT INTO notes VALUES(?,?,?)");
  for (const auto* insert : {&transactions, &changes, &notes}) {
    if (!*insert) return tl::unexpected(insert->error());
  }
  for (const Entry& entry : ledger.entries()) {
    if (auto status = insert_entry(entry, *transactions, *changes, *notes); !status) return status;
  }
  if (sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK)
    return failed_sql(db, ErrorKind::io, "commit");
  return {};
}

}  // namespace

// Made beside and renamed: a reader sees the old index or the new one.
Expected<> write_history_index(const Ledger& ledger, const std::string& path) {
  const std::string beside = fmt::format("{}.{}", path, ::getpid());
  ::unlink(beside.c_str());
  const auto failed = [&](const Error& error) {
    ::unlink(beside.c_str());
    return tl::unexpected(error.within("history index"));
  };
  {
    auto db = open(beside, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
    if (!db) return failed(db.error());
    if (auto status = fill(db->get(), ledger); !status) return failed(status.error());
  }
  if (::rename(beside.c_str(), path.c_str()) < 0) {
    return failed(Error(ErrorKind::io, "rename " + beside, errno));
  }
  return {};
}

Expected<QueryResult> query_history(const std::string& path, const std::string& sql) {
  auto db = open(path, SQLITE_OPEN_READONLY);
  if (!db) return tl::unexpected(db.error());
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(db->get(), sql.c_str(), -1, &raw, &rest) != SQLITE_OK) {
    return failed_sql(db->get(), ErrorKind::bad_input, "--query");
  }
  const Statement statement(raw);
  if (raw == nullptr) return fail(ErrorKind::bad_input, "--query: found nothing to run, allowed: one SELECT");
  const std::string_view more(rest);
  if (const std::size_t at = more.find_first_not_of(" \t\r\n;"); at != std::string_view::npos) {
    return fail(ErrorKind::bad_input, "--query: found more behind it: {}, allowed: one SELECT",
                printable(more.substr(at)));
  }
  QueryResult out;
  const int columns = sqlite3_column_count(raw);
  for (int i = 0; i < columns; ++i) out.columns.emplace_back(sqlite3_column_name(raw, i));
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    std::vector<std::string> row;
    for (int i = 0; i < columns; ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, i));
      row.emplace_back(text == nullptr ? "" : text);
    }
    out.rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) return failed_sql(db->get(), ErrorKind::bad_input, "--query");
  return out;
}

}  // namespace rocetune::tune
