#include "agent/tune/compaction.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "dataplane/base/durable.h"

namespace rocetune::tune {
namespace {

bool is_needed(const Entry& entry) {
  return entry.is_open() || entry.outcome == Outcome::rollback_failed ||
         (entry.outcome == Outcome::committed && entry.begin.plan.kind != PlanKind::boot);
}

std::int64_t unrepaired_id(const Ledger& ledger) {
  return ledger.unrepaired() == nullptr ? 0 : ledger.unrepaired()->id;
}

// What anything that reads the journal goes by.
bool means_the_same(const Ledger& one, const Ledger& other) {
  return confirmed_state(one) == confirmed_state(other) && unrepaired_id(one) == unrepaired_id(other) &&
         one.next_id() == other.next_id() && one.open() == nullptr && other.open() == nullptr;
}

// A second name for the file, on disk. One that an interrupted attempt left is the same file.
Expected<> put_aside(const std::string& path, const std::string& name) {
  if (::link(path.c_str(), name.c_str()) != 0) {
    const int number = errno;
    struct stat mine {
    }, there{};
    const bool same = number == EEXIST && ::stat(path.c_str(), &mine) == 0 &&
                      ::stat(name.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
                      mine.st_dev == there.st_dev;
    if (!same) return tl::unexpected(Error(ErrorKind::io, fmt::format("link {} to {}", path, name), number));
  }
  return sync_directory(directory_of(name));
}

}  // namespace

std::vector<Record> needed_records(const std::vector<Record>& records, const Ledger& ledger) {
  std::set<std::int64_t> needed;
  const auto& entries = ledger.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + kRecentTransactions >= entries.size() || is_needed(entries[i])) needed.insert(entries[i].id);
  }
  std::vector<Record> out;
  for (const Record& record : records) {
    if (needed.contains(record.transaction)) out.push_back(record);
  }
  return out;
}

Expected<std::optional<std::string>> shorten_journal(const StateDirectory& state, Bytes above) {
  const std::string path = state.journal_path();
  struct stat info {};
  // Nobody's business here: not made yet, or led elsewhere by a link.
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= above.count()) {
    return std::optional<std::string>();
  }
  const auto journal = state.read_journal();
  if (!journal) return tl::unexpected(journal.error());
  const auto ledger = Ledger::from(journal->records(), path);
  if (!ledger) return tl::unexpected(ledger.error());
  if (ledger->open() != nullptr) return std::optional<std::string>();
  const std::string text = journal_text(needed_records(journal->records(), *ledger));
  if (static_cast<std::int64_t>(text.size()) > journal->size().count() / 4 * 3) {
    return std::optional<std::string>();
  }
  const auto shorter = parse_journal(text, path).and_then([&](const ParsedJournal& parsed) {
    return Ledger::from(parsed.records, path);
  });
  if (!shorter) return tl::unexpected(shorter.error());
  if (!means_the_same(*ledger, *shorter)) {
    return fail(ErrorKind::conflict,
                "{}: without its older parts it would mean something else: left as it is", path);
  }
  const std::string aside = fmt::format("{}-until-{}", path, ledger->entries().back().id);
  return put_aside(path, aside).and_then([&] { return write_atomically(path, text, 0600); }).map([&] {
    return std::optional(aside);
  });
}

}  // namespace rocetune::tune
