#include "agent/tune/caller.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "dataplane/base/file.h"

namespace rocetune::tune {
namespace {

constexpr int kAncestors = 16;  // sudo, its monitor, a shell or two: more is a strange tree

std::string variable(const std::string& environment, std::string_view name) {
  std::size_t at = 0;
  while (at < environment.size()) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = std::string_view(environment).substr(at, end - at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return "";
}

// Parent of a process: the fourth field of stat, behind the command in brackets, which may hold anything.
std::optional<int> parent_of(int pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  const std::size_t bracket = stat->rfind(')');
  int parent = 0;
  if (bracket == std::string::npos || std::sscanf(stat->c_str() + bracket + 1, " %*c %d", &parent) != 1) {
    return std::nullopt;
  }
  return parent > 1 ? std::optional(parent) : std::nullopt;
}

std::string terminal_name() {
  std::array<char, 64> name{};
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::ttyname_r(fd, name.data(), name.size()) != 0) continue;
    const std::string full(name.data());
    return full.starts_with("/dev/") ? full.substr(5) : full;
  }
  return "";
}

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return entry.pw_name;
  return fmt::format("uid {}", uid);
}

}  // namespace

Caller current_caller(std::string command) {
  Caller caller;
  caller.user = user_name(::geteuid());
  caller.terminal = terminal_name();
  caller.command = std::move(command);
  std::optional<int> pid = ::getpid();
  for (int i = 0; pid && i < kAncestors; ++i, pid = parent_of(*pid)) {
    const auto environment = read_file(fmt::format("/proc/{}/environ", *pid));
    if (!environment) continue;
    if (caller.sudo_user.empty()) caller.sudo_user = variable(*environment, "SUDO_USER");
    if (caller.ssh_client.empty()) {
      const std::string connection = variable(*environment, "SSH_CONNECTION");
      caller.ssh_client = connection.substr(0, connection.find(' '));
    }
  }
  return caller;
}

}  // namespace rocetune::tune
