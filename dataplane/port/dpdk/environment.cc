#include "dataplane/port/dpdk/environment.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "dataplane/port/dpdk/broken_pipe.h"
#include "dataplane/port/dpdk/eal_arguments.h"

namespace rocetune::dpdk {
namespace {

// Standard output and standard error go into memory while it lives: EAL prints its usage and its complaints,
// some of them past its own log.
class CapturedOutput {
 public:
  CapturedOutput() : file_(memfd_create("eal-output", MFD_CLOEXEC)) {
    if (file_ < 0) return;
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      saved_[stream - STDOUT_FILENO] = dup(stream);
      dup2(file_, stream);
    }
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() {
    restore();
    if (file_ >= 0) close(file_);
  }
  void restore() {
    if (file_ < 0 || is_restored_) return;
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      dup2(saved_[stream - STDOUT_FILENO], stream);
      close(saved_[stream - STDOUT_FILENO]);
    }
    is_restored_ = true;
  }
  std::string text() const {
    std::string out(16384, '\0');
    const ssize_t size = file_ < 0 ? 0 : pread(file_, out.data(), out.size(), 0);
    out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return out;
  }

 private:
  int file_;
  int saved_[2] = {-1, -1};
  bool is_restored_ = false;
};

// What of EAL's output says why: neither its usage nor what it tells about the machine.
std::string complaints(const std::string& output) {
  std::string out;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("Usage:") || line.starts_with("EAL common options")) break;
    if (line.empty() || line.starts_with("EAL: Detected") || line.starts_with("EAL: Multi-process") ||
        line.starts_with("EAL: Selected") || line.starts_with("EAL: VFIO support")) {
      continue;
    }
    out += "\n  " + line;
  }
  return out;
}

// The cores this process may use, as EAL wants them: "0,1,5".
std::string allowed_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::string out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) out += (out.empty() ? "" : ",") + std::to_string(cpu);
  }
  return out;
}

// A server that was killed leaves its socket behind, and the next one cannot listen there. Where nobody
// listens the file is of no use to anybody.
void remove_dead_sockets(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    sockaddr_un address{.sun_family = AF_UNIX};
    if (path.size() >= sizeof address.sun_path) continue;
    std::copy(path.begin(), path.end(), address.sun_path);
    const int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (probe < 0) return;
    const int status = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (status != 0 && errno == ECONNREFUSED) unlink(path.c_str());
    close(probe);
  }
}

std::string& kept_complaints() {
  static std::string text;
  return text;
}

// The file prefix we chose, so the folder is ours to remove.
std::string own_prefix() { return fmt::format("rocetune-{}", getpid()); }

}  // namespace

Expected<> start_environment(const std::vector<std::string>& given) {
  static bool is_started = false;
  if (is_started) return fail(ErrorKind::conflict, "DPDK's environment was started before in this process");
  is_started = true;
  // EAL keeps pointers to its arguments and writes to the array.
  static std::vector<std::string> words = environment_arguments(given, own_prefix(), allowed_cpus());
  static std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  remove_dead_sockets(server_sockets(given));
  const NoBrokenPipeSignal no_signal;  // EAL's threads inherit it
  CapturedOutput output;
  const int status = rte_eal_init(static_cast<int>(words.size()), argv.data());
  const int error = rte_errno;
  output.restore();
  kept_complaints() = complaints(output.text());
  if (status >= 0) return {};
  return fail(ErrorKind::bad_input, "DPDK's environment did not start ({}):{}", errno_text(error),
              environment_complaints());
}

const std::string& environment_complaints() { return kept_complaints(); }

void remove_runtime_folder() {
  const std::filesystem::path folder = rte_eal_get_runtime_dir();
  std::error_code ignored;
  if (folder.filename() == own_prefix()) std::filesystem::remove_all(folder, ignored);
}

}  // namespace rocetune::dpdk
