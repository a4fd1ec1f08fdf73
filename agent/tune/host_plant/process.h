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

  // Takes in what it has written, waiting at most so long for more. False: both outputs are closed.
  bool read(Duration wait);
  // Standard output so far, and the last of standard error.
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  // Lines of standard output that have not been taken yet, without their newlines; a last one without a
  // newline stays.
  std::vector<std::string> take_lines();
  // More of standard output than this is dropped (the end of it counts less than the memory of this host).
  static constexpr std::size_t kMostOutput = 64 << 20;
  static constexpr std::size_t kMostErrors = 64 << 10;

  // Everything in its group: first politely (SIGTERM, half a second), then not (SIGKILL). Waits.
  void end();
  // Waits for its end. Exit status; 128 + signal where one ended it, as shells say it.
  int wait();
  bool is_ended() const { return pid_ <= 0; }
  int status() const { return status_; }

 private:
  Process() = default;
  void signal_group(int number) const;
  // True if it has ended by now.
  bool reap(bool waiting);

  pid_t pid_ = 0;
  int status_ = 0;
  Descriptor output_, errors_;
  std::string out_, err_;
  std::size_t taken_ = 0;  // of out_, by take_lines
};

struct RunResult {
  int status = 0;
  std::string out, err;
  bool timed_out = false;
  bool stopped = false;  // `stop` was requested
};
// Runs a program to its end, to `limit` or until `stop`. Error: it cannot be started.
Expected<RunResult> run_program(const std::vector<std::string>& words, const std::string& input,
                                Duration limit, std::stop_token stop);

// A word for a POSIX shell: quoted where it has to be.
std::string shell_word(std::string_view text);

}  // namespace rocetune::tune
