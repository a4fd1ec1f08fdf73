#include "dataplane/base/durable.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace rocetune {

Expected<> write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = retry_interrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (n < 0) return fail_os(errno, "cannot write {}", name);
    if (n == 0) return fail_os(EIO, "cannot write {}: no progress", name);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Expected<> sync_directory(const std::string& path) {
  const Descriptor directory(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory.is_open()) return fail_os(errno, "cannot open directory {}", path);
  if (::fsync(directory.fd()) != 0 && errno != EINVAL)
    return fail_os(errno, "cannot sync directory {}", path);
  return {};
}

namespace {

// Content, mode and owner of the temporary file, on disk.
Expected<> fill(int fd, const std::string& path, std::string_view bytes, mode_t mode) {
  struct stat old {};
  const bool replaces = ::stat(path.c_str(), &old) == 0;
  if (replaces && (old.st_uid != ::geteuid() || old.st_gid != ::getegid()) &&
      ::fchown(fd, old.st_uid, old.st_gid) != 0) {
    return fail_os(errno, "cannot give the new {} its owner", path);
  }
  if (::fchmod(fd, replaces ? old.st_mode & 07777 : mode) != 0) {
    return fail_os(errno, "cannot give the new {} its mode", path);
  }
  if (auto written = write_all(fd, bytes, path); !written) return written;
  if (::fsync(fd) != 0) return fail_os(errno, "cannot sync {}", path);
  return {};
}

}  // namespace

Expected<> write_atomically(const std::string& path, std::string_view bytes, mode_t mode) {
  const std::string directory = directory_of(path);
  std::string temporary = directory + "/." + std::string(file_name_of(path)) + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return fail_os(errno, "cannot create a temporary file for {}", path);
  auto filled = fill(file.fd(), path, bytes, mode);
  if (filled && ::rename(temporary.c_str(), path.c_str()) != 0) {
    filled = fail_os(errno, "cannot replace {}", path);
  }
  if (!filled) {
    ::unlink(temporary.c_str());
    return filled;
  }
  return sync_directory(directory);
}

Expected<> check_writable(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    return fail_os(EISDIR, "cannot replace {}", path);
  std::string temporary = directory_of(path) + "/." + std::string(file_name_of(path)) + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return fail_os(errno, "cannot create a temporary file for {}", path);
  ::unlink(temporary.c_str());
  return {};
}

Expected<AppendFile> AppendFile::open(const std::string& path, mode_t mode) {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
  const bool existed = path_exists(path);
  Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), kFlags, mode); }));
  if (!file.is_open()) return fail_os(errno, "cannot open {} for appending", path);
  if (!existed) {
    if (auto synced = sync_directory(directory_of(path)); !synced) return tl::unexpected(synced.error());
  }
  return AppendFile(std::move(file), path);
}

Expected<> AppendFile::append(std::string_view bytes) {
  struct stat before {};
  if (::fstat(file_.fd(), &before) != 0) return fail_os(errno, "cannot look at {}", path_);
  auto done = write_all(file_.fd(), bytes, path_);
  if (done && ::fdatasync(file_.fd()) != 0) done = fail_os(errno, "cannot sync {}", path_);
  if (done || !S_ISREG(before.st_mode)) return done;
  if (::ftruncate(file_.fd(), before.st_size) != 0 || ::fdatasync(file_.fd()) != 0) {
    return tl::unexpected(std::move(done.error()).within("the last record may be torn"));
  }
  return done;
}

Expected<LockFile> LockFile::acquire(const std::string& path) {
  Descriptor file(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); }));
  if (!file.is_open()) return fail_os(errno, "cannot open lock {}", path);
  if (retry_interrupted([&] { return ::flock(file.fd(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return fail_os(errno, "cannot lock {}", path);
    const std::string owner = read_attribute(path).value_or("");
    return fail(ErrorKind::conflict, "{} is locked by {}", path,
                owner.empty() ? "another process" : "process " + owner);
  }
  if (::ftruncate(file.fd(), 0) != 0) return fail_os(errno, "cannot write {}", path);
  if (auto written = write_all(file.fd(), fmt::format("{}\n", ::getpid()), path); !written) {
    return tl::unexpected(written.error());
  }
  return LockFile(std::move(file));
}

}  // namespace rocetune
