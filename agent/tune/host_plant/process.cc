#include "agent/tune/host_plant/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "dataplane/base/clock.h"

namespace rocetune::tune {
namespace {

constexpr Duration kGrace = milliseconds(500);  // between asking and killing
constexpr Duration kSlice = milliseconds(20);
constexpr Duration kDeath = seconds(5);  // a killed process that hangs in the kernel is not waited for

struct Pipe {
  Descriptor read, write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_os(errno, "pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// A file without a name that holds `input`: a pipe could block on a program that does not read.
Expected<Descriptor> input_file(const std::string& input) {
  if (input.empty()) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_os(errno, "/dev/null");
    return Descriptor(fd);
  }
  const int fd = ::memfd_create("rocetune-input", MFD_CLOEXEC);
  if (fd < 0) return fail_os(errno, "memfd");
  Descriptor out(fd);
  std::size_t written = 0;
  while (written < input.size()) {
    const auto n =
        retry_interrupted([&] { return ::write(fd, input.data() + written, input.size() - written); });
    if (n <= 0) return fail_os(errno, "memfd");
    written += static_cast<std::size_t>(n);
  }
  if (::lseek(fd, 0, SEEK_SET) != 0) return fail_os(errno, "memfd");
  return out;
}

// Reads what is there, and keeps the last of it: `most`, and up to as much again that is not cut off yet.
// False: the other end is closed.
bool drain(Descriptor& from, std::string& into, std::size_t most) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto n = retry_interrupted([&] { return ::read(from.fd(), buffer.data(), buffer.size()); });
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    into.append(buffer.data(), static_cast<std::size_t>(n));
    if (into.size() > 2 * most) into.erase(0, into.size() - most);
  }
}

}  // namespace

Expected<Process> Process::start(const std::vector<std::string>& words, const std::string& input) {
  auto in = input_file(input);
  if (!in) return tl::unexpected(in.error());
  auto out = make_pipe();
  if (!out) return tl::unexpected(out.error());
  auto err = make_pipe();
  if (!err) return tl::unexpected(err.error());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in->fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out->write.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err->write.fd(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  Process process;
  const int error = ::posix_spawnp(&process.pid_, words.front().c_str(), &actions, &attributes,
                                   pointers_to(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    process.pid_ = 0;
    return fail_os(error, "{}", words.front());
  }
  process.handle_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  process.output_ = std::move(out->read);
  process.errors_ = std::move(err->read);
  for (const int fd : {process.output_.fd(), process.errors_.fd()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return process;
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  std::swap(handle_, other.handle_);
  output_ = std::move(other.output_);
  errors_ = std::move(other.errors_);
  out_.swap(other.out_);
  err_.swap(other.err_);
  return *this;
}

Process::~Process() { end(); }

void Process::drain_all() {
  if (output_.is_open() && !drain(output_, out_, kMostOutput)) output_ = Descriptor();
  if (errors_.is_open() && !drain(errors_, err_, kMostErrors)) errors_ = Descriptor();
}

bool Process::has_ended() const {
  siginfo_t info{};
  const auto asked = retry_interrupted(
      [&] { return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT); });
  return asked != 0 || info.si_pid == pid_;
}

// What it started and left behind is killed while its own number still stands for its group.
void Process::collect() {
  ::kill(-pid_, SIGKILL);
  int status = 0;
  const pid_t ended = retry_interrupted([&] { return ::waitpid(pid_, &status, 0); });
  if (ended > 0) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
  handle_ = Descriptor();
}

bool Process::poll(Duration wait) {
  if (pid_ <= 0) return false;
  const SystemClock clock;
  const Instant deadline = clock.now() + wait;
  for (;;) {
    std::array<pollfd, 3> waiting{};
    std::size_t count = 0;
    for (const Descriptor* from : {&output_, &errors_, &handle_}) {
      if (from->is_open()) waiting[count++] = {from->fd(), POLLIN, 0};
    }
    Duration span = std::max(Duration(0), deadline - clock.now());
    if (!handle_.is_open()) span = std::min(span, kSlice);
    const int ready = ::poll(waiting.data(), count, static_cast<int>(span / milliseconds(1)));
    const std::size_t before = out_.size() + err_.size();
    const bool ended = has_ended();  // before the last look at what it wrote
    drain_all();
    if (ended) {
      collect();
      return false;
    }
    const bool has_more = ready > 0 && out_.size() + err_.size() > before;
    if (has_more || ready < 0 || clock.now() >= deadline) return true;
  }
}

std::vector<std::string> Process::take_lines() {
  std::vector<std::string> out;
  std::size_t taken = 0;
  for (auto end = out_.find('\n'); end != std::string::npos; end = out_.find('\n', taken)) {
    out.push_back(out_.substr(taken, end - taken));
    taken = end + 1;
  }
  out_.erase(0, taken);
  return out;
}

void Process::end() {
  if (pid_ <= 0) return;
  SystemClock clock;
  ::kill(-pid_, SIGTERM);
  for (const Instant deadline = clock.now() + kGrace; !has_ended() && clock.now() < deadline;) {
    clock.sleep_for(kSlice);
  }
  ::kill(-pid_, SIGKILL);
  for (const Instant deadline = clock.now() + kDeath; !has_ended() && clock.now() < deadline;) {
    clock.sleep_for(kSlice);
  }
  drain_all();
  if (has_ended()) {
    collect();
  } else {
    status_ = 128 + SIGKILL;
    pid_ = 0;
  }
}

Expected<RunResult> run_program(const std::vector<std::string>& words, const std::string& input,
                                Duration limit, const std::stop_token& stop) {
  auto process = Process::start(words, input);
  if (!process) return tl::unexpected(process.error());
  SystemClock clock;
  const Instant deadline = clock.now() + limit;
  RunResult out;
  while (process->poll(milliseconds(100))) {
    out.stopped = stop.stop_requested();
    out.timed_out = clock.now() >= deadline;
    if (out.stopped || out.timed_out) process->end();
  }
  out.status = process->status();
  out.out = process->out();
  out.err = process->err();
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace rocetune::tune
