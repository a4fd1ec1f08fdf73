// A line of pasted text as readers see it: without what terminals, launchers and web pages put around it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace rocetune::evidence {

struct Line {
  int number = 0;  // in its file, from 1
  // Without colour and underline codes, carriage returns, blanks at the end; non-breaking blanks are blanks.
  // Of a prompt ("user@host:~$ ethtool -S eth0") only the command.
  std::string_view text;
  bool is_command = false;       // it stood behind a prompt
  std::string_view prompt_host;  // "host" of that prompt; else empty
  std::string_view tag;          // "1,0" where mpirun wrote "[1,0]<stdout>:" in front; else empty

  bool is_blank() const { return text.empty(); }
};

// Makes Lines of raw ones. The texts of a Line point into the raw line where it was clean, else into this
// object, until the next call.
class LineCleaner {
 public:
  // `raw`: without its newline.
  Line clean(std::string_view raw, int number);

 private:
  std::string buffer_;
};

// ---- small words of readers ----

// Without blanks and tabs on both sides.
std::string_view trimmed(std::string_view text);
// What stands before the first `separator`, and what behind it, both trimmed; second empty without one.
std::pair<std::string_view, std::string_view> split_at(std::string_view text, char separator);

}  // namespace rocetune::evidence
