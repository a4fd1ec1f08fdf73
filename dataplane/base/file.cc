#include "dataplane/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "dataplane/base/durable.h"

namespace rocetune {
namespace {

// More than sysfs gives of an attribute (a page), and few calls for a seq_file (/proc/net).
constexpr std::size_t kChunk = 16 << 10;

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<std::string> read_file(const std::string& path, Bytes limit) {
  const Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return fail_os(errno, "cannot open {}", path);
  std::string out;
  while (true) {
    char chunk[kChunk];
    const ssize_t n = retry_interrupted([&] { return ::read(file.fd(), chunk, sizeof chunk); });
    if (n < 0) return fail_os(errno, "cannot read {}", path);
    if (n == 0) break;
    out.append(chunk, static_cast<std::size_t>(n));
    if (std::cmp_greater(out.size(), limit.count())) {
      return fail_os(EFBIG, "{} is larger than {}", path, to_text(limit));
    }
  }
  return out;
}

Expected<std::string> read_attribute(const std::string& path) {
  const Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return fail_os(errno, "cannot open {}", path);
  char chunk[kChunk];
  const ssize_t n = retry_interrupted([&] { return ::read(file.fd(), chunk, sizeof chunk); });
  if (n < 0) return fail_os(errno, "cannot read {}", path);
  if (n == sizeof chunk) return fail_os(EFBIG, "{} is no attribute: larger than a page", path);
  std::string_view text(chunk, static_cast<std::size_t>(n));
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);  // npos + 1 is 0: all blank
  return std::string(text);
}

Expected<> write_attribute(const std::string& path, std::string_view bytes) {
  const Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (!file.is_open()) return fail_os(errno, "cannot open {} for writing", path);
  const ssize_t n = retry_interrupted([&] { return ::write(file.fd(), bytes.data(), bytes.size()); });
  if (n < 0) return fail_os(errno, "cannot write \"{}\" to {}", bytes, path);
  if (std::cmp_not_equal(n, bytes.size())) {
    return fail_os(EIO, "{} took only {} of {} bytes", path, n, bytes.size());
  }
  return {};
}

Expected<> create_directories(const std::string& path, mode_t mode) {
  if (path.empty() || path == "/" || path == ".") return {};
  if (::mkdir(path.c_str(), mode) == 0) return sync_directory(directory_of(path));
  if (errno == ENOENT) {
    const std::string parent = directory_of(path);
    if (parent == path) return fail_os(ENOENT, "cannot create directory {}", path);
    if (auto made = create_directories(parent, mode); !made) return made;
    if (::mkdir(path.c_str(), mode) == 0) return sync_directory(parent);
  }
  if (errno != EEXIST) return fail_os(errno, "cannot create directory {}", path);
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return fail_os(errno, "cannot look at {}", path);
  if (!S_ISDIR(about.st_mode)) return fail_os(ENOTDIR, "cannot create directory {}", path);
  return {};
}

Expected<> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return fail_os(errno, "cannot remove {}", path);
  return sync_directory(directory_of(path));
}

Expected<std::vector<std::string>> list_directory(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return fail_os(errno, "cannot list {}", path);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail_os(errno, "cannot list {}", path);
  std::sort(names.begin(), names.end());
  return names;
}

Expected<std::string> read_link(const std::string& path) {
  char target[4096];
  const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
  if (n < 0) return fail_os(errno, "cannot read link {}", path);
  if (std::cmp_equal(n, sizeof target)) return fail_os(ENAMETOOLONG, "cannot read link {}", path);
  return std::string(target, static_cast<std::size_t>(n));
}

bool path_exists(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

std::string directory_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace rocetune
