// The journal: the truth about what was done to this host. Append-only lines in one file, each on disk before
// `append` returns.
//
//   rocetune-journal 1
//   1 9f86d081884c7d65 {"kind":"begin",…}
//   2 60303ae22b998861 {"kind":"step_intent",…}
//
// number, check, record. The check is the first 16 hex digits of SHA-256 over the previous line's check and
// this record, so an edited, removed or exchanged line shows. After the last line the file may hold NUL
// bytes: space that was reserved so that a full disk cannot strike inside a transaction. What a torn write
// left at the very end is ignored; damage before the last line is an error and nobody writes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tune/record.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// Bytes that stay. Implemented over a file, and by tests over memory that forgets what was not synced.
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;
  virtual Expected<std::string> read() = 0;
  // Returns when the bytes are on disk.
  virtual Expected<> write(std::int64_t offset, std::string_view bytes) = 0;
  // Makes sure that writes up to `end` find space; bytes that were not there read as NUL. Durable.
  virtual Expected<> reserve(std::int64_t end) = 0;
  virtual Expected<> truncate(std::int64_t end) = 0;
};

// A file, created with mode 0600 in an existing directory. It takes no more than kJournalLimit, since more
// would not be read: a transaction that might pass it finds no space before it writes anything. Errors: io,
// denied.
inline constexpr Bytes kJournalLimit{256 << 20};
Expected<std::unique_ptr<JournalStorage>> open_journal_file(const std::string& path);
// For reading alone: an absent file reads as empty, writing is an error.
std::unique_ptr<JournalStorage> read_only_journal_file(const std::string& path);

struct ParsedJournal {
  std::vector<Record> records;
  std::int64_t end = 0;    // offset behind the last good line
  std::int64_t lines = 0;  // good ones, without the heading
  std::string check;       // of the last line
  bool torn = false;       // something unreadable stands behind the last good line
};
// Error: bad_input with file and line, what was found and what is allowed.
Expected<ParsedJournal> parse_journal(std::string_view bytes, const std::string& file);
// The whole journal of these records, as parse_journal reads it.
std::string journal_text(const std::vector<Record>& records);

class Journal {
 public:
  // Reads everything. `name` is for messages.
  static Expected<Journal> open(std::unique_ptr<JournalStorage> storage, std::string name);

  const std::vector<Record>& records() const { return parsed_.records; }
  // Of its lines, without what is reserved behind them.
  Bytes size() const { return Bytes(parsed_.end); }
  // Space for `size` more bytes of lines. Error: io (ENOSPC): nothing was changed.
  Expected<> reserve(Bytes size);
  // On disk when it returns. After an error the record does not count: it is not among `records`.
  Expected<> append(Record record);
  // Gives back what was reserved and not used.
  Expected<> trim();

 private:
  Journal(std::unique_ptr<JournalStorage> storage, std::string name, ParsedJournal parsed)
      : storage_(std::move(storage)), name_(std::move(name)), parsed_(std::move(parsed)) {}

  std::unique_ptr<JournalStorage> storage_;
  std::string name_;
  ParsedJournal parsed_;
};

}  // namespace rocetune::tune
