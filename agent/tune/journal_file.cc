// The journal's bytes in a file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/tune/journal.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"

namespace rocetune::tune {
namespace {

tl::unexpected<Error> failed_call(std::string_view call, const std::string& path) {
  const int number = errno;
  const ErrorKind kind =
      number == EACCES || number == EPERM || number == EROFS ? ErrorKind::denied : ErrorKind::io;
  return tl::unexpected(Error(kind, fmt::format("{} {}", call, path), number));
}

class FileStorage : public JournalStorage {
 public:
  FileStorage(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Expected<std::string> read() override { return read_file(path_, kJournalLimit); }

  Expected<> write(std::int64_t offset, std::string_view bytes) override {
    if (auto status = stays_readable(offset + static_cast<std::int64_t>(bytes.size())); !status)
      return status;
    while (!bytes.empty()) {
      const ssize_t n =
          retry_interrupted([&] { return ::pwrite(file_.fd(), bytes.data(), bytes.size(), offset); });
      if (n < 0) return failed_call("write", path_);
      offset += n;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return sync();
  }

  Expected<> reserve(std::int64_t end) override {
    if (auto status = stays_readable(end); !status) return status;
    struct stat now {};
    if (::fstat(file_.fd(), &now) < 0) return failed_call("stat", path_);
    if (now.st_size >= end) return {};
    // posix_fallocate writes the zeros itself where the file system cannot allocate.
    const int error = ::posix_fallocate(file_.fd(), now.st_size, end - now.st_size);
    if (error != 0) {
      errno = error;
      auto failure = failed_call("allocate space for", path_);
      (void)::ftruncate(file_.fd(), now.st_size);
      return failure;
    }
    return sync();
  }

  Expected<> truncate(std::int64_t end) override {
    if (::ftruncate(file_.fd(), end) < 0) return failed_call("truncate", path_);
    return sync();
  }

 private:
  Expected<> stays_readable(std::int64_t end) const {
    if (end <= kJournalLimit.count()) return {};
    return fail(
        ErrorKind::io,
        "{} would grow beyond {}, the most that is read: if what is confirmed now need not come back at "
        "boot, move it aside",
        path_, to_text(kJournalLimit));
  }
  Expected<> sync() {
    if (::fsync(file_.fd()) < 0) return failed_call("sync", path_);
    return {};
  }

  Descriptor file_;
  std::string path_;
};

class ReadOnlyStorage : public JournalStorage {
 public:
  explicit ReadOnlyStorage(std::string path) : path_(std::move(path)) {}
  Expected<std::string> read() override {
    auto bytes = read_file(path_, kJournalLimit);
    if (!bytes && bytes.error().kind() == ErrorKind::absent) return std::string();
    return bytes;
  }
  Expected<> write(std::int64_t, std::string_view) override { return refused(); }
  Expected<> reserve(std::int64_t) override { return refused(); }
  Expected<> truncate(std::int64_t) override { return refused(); }

 private:
  Expected<> refused() { return fail(ErrorKind::denied, "{} was opened for reading", path_); }
  std::string path_;
};

}  // namespace

Expected<std::unique_ptr<JournalStorage>> open_journal_file(const std::string& path) {
  const bool existed = path_exists(path);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) return failed_call("open", path);
  if (!existed) {
    if (auto status = sync_directory(directory_of(path)); !status) return tl::unexpected(status.error());
  }
  return std::make_unique<FileStorage>(std::move(file), path);
}

std::unique_ptr<JournalStorage> read_only_journal_file(const std::string& path) {
  return std::make_unique<ReadOnlyStorage>(path);
}

}  // namespace rocetune::tune
