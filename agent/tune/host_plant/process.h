// Another program: started in a process group of its own, read without waiting, ended with all that it
// started.
#pragma once

#include <sys/types.h>

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/base/file.h"

namespace rocetune::tune {

class Process {
 public:
  // `words`: program and arguments, found by PATH. `input` is what it reads on standard input, then its end.
  // Error: as the system refused (absent: no such program).
  static Expected<Process> start(const std::vector<std::string>& words, const std::string& input = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Kills what still runs, and waits for it.
  ~Process();

  // Takes in what it has written, waiting at most so long for more, or for its end. False: it has ended, all
  // that it wrote is here, and what it left behind in its group is killed.
  bool poll(Duration wait);
  // Standard output and standard error so far; of much the last: results are printed at the end.
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  // Takes the whole lines of standard output so far out of it, without their newlines; a last one without a
  // newline stays.
  std::vector<std::string> take_lines();
  // So much of the last is kept, twice as much at most.
  static constexpr std::size_t kMostOutput = 32 << 20;
  static constexpr std::size_t kMostErrors = 32 << 10;

  // Everything in its group: first politely (SIGTERM, half a second), then not (SIGKILL). Waits for its end,
  // a few seconds at most: what the kernel does not let go is left behind.
  void end();
  // Once it has ended: its exit status; 128 + signal where one ended it, as shells say it.
  int status() const { return status_; }

 private:
  Process() = default;
  // True if it has ended; its process is kept until collect, so that its number is nobody else's.
  bool has_ended() const;
  void collect();
  void drain_all();

  pid_t pid_ = 0;
  int status_ = 0;
  Descriptor handle_;  // readable once it has ended; closed where the kernel has none
  Descriptor output_, errors_;
  std::string out_, err_;
};

struct RunResult {
  int status = 0;
  std::string out, err;
  bool timed_out = false;
  bool stopped = false;  // `stop` was requested
};
// Runs a program to its end, to `limit` or until `stop`. Error: it cannot be started.
Expected<RunResult> run_program(const std::vector<std::string>& words, const std::string& input,
                                Duration limit, const std::stop_token& stop);

// A word for a POSIX shell: quoted where it has to be.
std::string shell_word(std::string_view text);

}  // namespace rocetune::tune
