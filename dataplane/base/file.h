// Files, links and directories by system call, for /sys, /proc, debugfs and configfs as well as for our own
// state. Every error names the path and carries errno. Interrupted calls are repeated.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune {

// An open file descriptor, closed on destruction.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Repeats a system call while a signal interrupts it.
template <class Call>
auto retry_interrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

inline constexpr Bytes kReadLimit{16 << 20};

// The whole file until end of file, whatever size it claims (sysfs says 4096, proc says 0). More than `limit`
// is an io error (EFBIG).
Expected<std::string> read_file(const std::string& path, Bytes limit = kReadLimit);
// The same without blanks and newlines at the end: one sysfs attribute.
Expected<std::string> read_attribute(const std::string& path);

// Gives `bytes` to an existing kernel attribute in one write(2), without creating or truncating: what sysfs,
// debugfs and configfs expect. A short write is an io error.
Expected<> write_attribute(const std::string& path, std::string_view bytes);

// Creates the directory and its missing parents; an existing directory is no error. Each created entry is
// synced to disk.
Expected<> create_directories(const std::string& path, mode_t mode = 0755);
// Removes the file durably. Absent is an error of kind absent.
Expected<> remove_file(const std::string& path);

// Names in the directory without "." and "..", sorted by byte.
Expected<std::vector<std::string>> list_directory(const std::string& path);
// The text of a symbolic link.
Expected<std::string> read_link(const std::string& path);
// Whether something (a broken link included) stands at the path. Denied search permission counts as no.
bool path_exists(const std::string& path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string directory_of(std::string_view path);
// "c" of "a/b/c".
std::string_view file_name_of(std::string_view path);

}  // namespace rocetune
