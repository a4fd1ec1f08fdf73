#include "agent/tune/host_plant/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
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
constexpr Duration kLook = milliseconds(20);

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

// Reads what is there. False: the other end is closed.
bool drain(Descriptor& from, std::string& into, std::size_t most, bool keep_end) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto n = retry_interrupted([&] { return ::read(from.fd(), buffer.data(), buffer.size()); });
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    into.append(buffer.data(), static_cast<std::size_t>(n));
    if (into.size() > most) keep_end ? into.erase(0, into.size() - most) : into.erase(most);
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
  process.output_ = std::move(out->read);
  process.errors_ = std::move(err->read);
  for (const int fd : {process.output_.fd(), process.errors_.fd()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return process;
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  std::swap(taken_, other.taken_);
  output_ = std::move(other.output_);
  errors_ = std::move(other.errors_);
  out_.swap(other.out_);
  err_.swap(other.err_);
  return *this;
}

Process::~Process() { end(); }

bool Process::read(Duration wait) {
  std::array<pollfd, 2> waiting{};
  std::size_t count = 0;
  for (const Descriptor* from : {&output_, &errors_}) {
    if (from->is_open()) waiting[count++] = {from->fd(), POLLIN, 0};
  }
  if (count == 0) return false;
  const auto milliseconds_left = std::max<std::int64_t>(0, wait / milliseconds(1));
  ::poll(waiting.data(), count, static_cast<int>(milliseconds_left));
  if (output_.is_open() && !drain(output_, out_, kMostOutput, false)) output_ = Descriptor();
  if (errors_.is_open() && !drain(errors_, err_, kMostErrors, true)) errors_ = Descriptor();
  return output_.is_open() || errors_.is_open();
}

std::vector<std::string> Process::take_lines() {
  std::vector<std::string> out;
  for (;;) {
    const auto end = out_.find('\n', taken_);
    if (end == std::string::npos) return out;
    out.push_back(out_.substr(taken_, end - taken_));
    taken_ = end + 1;
  }
}

void Process::signal_group(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

bool Process::reap(bool waiting) {
  if (pid_ <= 0) return true;
  int status = 0;
  const pid_t ended = retry_interrupted([&] { return ::waitpid(pid_, &status, waiting ? 0 : WNOHANG); });
  if (ended == 0) return false;
  if (ended > 0) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = 0;
  return true;
}

void Process::end() {
  if (pid_ <= 0) return;
  const pid_t group = pid_;
  SystemClock clock;
  signal_group(SIGTERM);
  const Instant deadline = clock.now() + kGrace;
  while (!reap(false) && clock.now() < deadline) clock.sleep_for(kLook);
  // What it started may have outlived it.
  ::kill(-group, SIGKILL);
  reap(true);
}

int Process::wait() {
  while (read(seconds(1))) {
  }
  reap(true);
  return status_;
}

Expected<RunResult> run_program(const std::vector<std::string>& words, const std::string& input,
                                Duration limit, std::stop_token stop) {
  auto process = Process::start(words, input);
  if (!process) return tl::unexpected(process.error());
  SystemClock clock;
  const Instant deadline = clock.now() + limit;
  RunResult out;
  for (bool is_open = true; is_open;) {
    is_open = process->read(milliseconds(100));
    out.stopped = stop.stop_requested();
    out.timed_out = clock.now() >= deadline;
    if (out.stopped || out.timed_out) break;
  }
  if (out.stopped || out.timed_out) {
    process->end();
    process->read(Duration(0));
  }
  out.status = process->wait();
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
