#include "agent/tune/deadman.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "dataplane/base/file.h"

namespace rocetune::tune {
namespace {

constexpr int kStartPolls = 50;
constexpr timespec kStartPoll{0, 100'000'000};
constexpr Duration kLook = seconds(1);  // how soon a dead apply is noticed

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// Runs a program to its end, silently. False if it cannot be run or fails.
bool run_silently(const std::vector<std::string>& words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, words.front().c_str(), &actions, nullptr, pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  if (retry_interrupted([&] { return ::waitpid(pid, &status, 0); }) < 0) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool start_as_unit(const std::vector<std::string>& command) {
  if (!path_exists("/run/systemd/system")) return false;
  std::vector<std::string> words{"systemd-run", "--quiet", "--collect",
                                 "--description=rocetune dead-man timer",
                                 // Killed, it comes back: exit codes 3 and 4 are its own ends.
                                 "--property=Restart=on-abnormal", "--property=RestartSec=1", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return run_silently(words);
}

// A grandchild in a session of its own, so that neither a hangup nor a waiting parent can reach it.
Expected<> start_detached(const std::vector<std::string>& command) {
  const std::vector<char*> arguments = pointers(command);
  const pid_t child = ::fork();
  if (child < 0) return tl::unexpected(Error(ErrorKind::io, "fork", errno));
  if (child == 0) {
    // Between fork and exec only what is safe after a fork.
    ::setsid();
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGHUP, &ignore, nullptr);
    const pid_t grandchild = ::fork();
    if (grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
    if (::chdir("/") != 0) ::_exit(1);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  int status = 0;
  if (retry_interrupted([&] { return ::waitpid(child, &status, 0); }) < 0 || status != 0) {
    return fail(ErrorKind::io, "the dead-man timer did not start");
  }
  return {};
}

}  // namespace

bool deadman_is_alive(const StateDirectory& state) {
  return path_exists(state.deadman_path()) && !LockFile::acquire(state.deadman_path());
}

Expected<> start_deadman(const StateDirectory& state, const std::vector<std::string>& command) {
  ROCETUNE_ASSERT(!command.empty());
  if (!start_as_unit(command)) {
    if (auto status = start_detached(command); !status) return status;
  }
  for (int i = 0; i < kStartPolls; ++i) {
    if (deadman_is_alive(state)) return {};
    ::nanosleep(&kStartPoll, nullptr);
  }
  return fail(ErrorKind::io, "the dead-man timer did not start within five seconds");
}

Expected<Result> run_deadman(const StateDirectory& state, std::int64_t id, const DeadmanWorld& world) {
  auto alive = LockFile::acquire(state.deadman_path());
  // Somebody else watches. It may belong to a transaction that is just ending: then this one comes too early.
  for (int i = 0; !alive && i < kStartPolls; ++i) {
    world.sleep(milliseconds(100));
    alive = LockFile::acquire(state.deadman_path());
  }
  if (!alive) return tl::unexpected(alive.error());
  while (true) {
    const auto ledger = state.read_journal().and_then(
        [&](const Journal& journal) { return Ledger::from(journal.records(), state.journal_path()); });
    if (!ledger) return tl::unexpected(ledger.error());
    const Entry* entry = ledger->find(id);
    if (entry == nullptr) return fail(ErrorKind::absent, "there is no transaction {}", id);
    if (!entry->is_open()) return Result{Verdict::nothing_to_do, id, "it has ended", {}, 0, {}};
    const Moment now = world.now();
    if (entry->phase == Phase::waiting && entry->waiting_since.boot_id == now.boot_id) {
      const Duration left = nanoseconds(entry->deadline_boottime_ns - now.boottime_ns);
      if (left > Duration()) {
        world.sleep(std::min(left, kLook));
        continue;
      }
    }
    // Whoever applies, confirms or rolls back holds the lock; getting it means that nobody does any more.
    auto lock = state.lock();
    if (!lock) {
      world.sleep(kLook);
      continue;
    }
    auto result = world.recover();
    // Confirmed or waiting anew between our look and the lock: look again.
    if (result && result->verdict == Verdict::waiting) continue;
    return result;
  }
}

}  // namespace rocetune::tune
