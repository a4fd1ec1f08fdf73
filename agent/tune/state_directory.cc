#include "agent/tune/state_directory.h"

namespace rocetune::tune {

// 0700: the journal shows who works on this host and from where.
Expected<> StateDirectory::make() const { return create_directories(path_, 0700); }

Expected<LockFile> StateDirectory::lock() const {
  auto lock = LockFile::acquire(path_ + "/lock");
  if (!lock) {
    return tl::unexpected(std::move(lock.error()).within("another rocetune process works on this host"));
  }
  return lock;
}

Expected<Journal> StateDirectory::open_journal() const {
  auto file = open_journal_file(journal_path());
  if (!file) return tl::unexpected(file.error());
  return Journal::open(std::move(*file), journal_path());
}

Expected<Journal> StateDirectory::read_journal() const {
  return Journal::open(read_only_journal_file(journal_path()), journal_path());
}

}  // namespace rocetune::tune
