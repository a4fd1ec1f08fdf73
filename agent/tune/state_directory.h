// Where a host's transactions live: the journal, the lock that lets one process at a time write, the marks of
// what runs beside.
#pragma once

#include <string>

#include "agent/tune/journal.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

inline constexpr std::string_view kStateDirectory = "/var/lib/rocetune";

class StateDirectory {
 public:
  explicit StateDirectory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string journal_path() const { return path_ + "/journal"; }
  std::string index_path() const { return path_ + "/history.sqlite"; }
  std::string deadman_path() const { return path_ + "/deadman.lock"; }

  // Makes the directory. Errors: denied, io.
  Expected<> make() const;
  // The right to write. Errors: conflict, naming the process that has it.
  Expected<LockFile> lock() const;
  // For the one who holds the lock.
  Expected<Journal> open_journal() const;
  // For everyone else; an absent journal is empty.
  Expected<Journal> read_journal() const;

 private:
  std::string path_;
};

}  // namespace rocetune::tune
