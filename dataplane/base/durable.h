// Writes that survive a power cut once they have returned, and the lock that keeps two writers apart.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/base/file.h"

namespace rocetune {

// Writes all of `bytes`, however many write(2) calls that takes. `name` is for the error's text.
Expected<> write_all(int fd, std::string_view bytes, const std::string& name);
// fsync of a directory: its entries (created, renamed, removed) are on disk. A file system that cannot sync
// directories (EINVAL) is no error.
Expected<> sync_directory(const std::string& path);

// Replaces the file so that a reader or a power cut sees the old content or the new, never a mixture: a
// temporary file in the same directory, fsync, rename, fsync of the directory. An existing file keeps its
// mode and owner; a new one gets `mode`. A symbolic link at `path` is itself replaced. On error the old file
// stands and the temporary one is gone.
Expected<> write_atomically(const std::string& path, std::string_view bytes, mode_t mode = 0644);

// Whether write_atomically could write there now: asked before what takes minutes to find out. Nothing is
// changed.
Expected<> check_writable(const std::string& path);

// A file that only grows, record by record: a journal. One writer at a time; take a LockFile.
class AppendFile {
 public:
  // Opens or creates; a created file's directory entry is synced.
  static Expected<AppendFile> open(const std::string& path, mode_t mode = 0600);

  // Appends and returns when the bytes are on disk (fdatasync). On error the file is cut back to its length
  // before the call, so a full disk leaves no half record; if even that fails, the error's text says so, and
  // readers must cope with a torn last record.
  Expected<> append(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  AppendFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::string path_;
};

// An advisory lock (flock) held while the object lives; the kernel drops it when the process dies, however.
// The file holds the owner's process id as text and stays behind.
class LockFile {
 public:
  // Errors: conflict, naming the owner, if another process (or another LockFile here) holds it.
  static Expected<LockFile> acquire(const std::string& path);

 private:
  explicit LockFile(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace rocetune
