// What the other end of a stream is: a terminal with a width and colours, or a file that wants plain text.
#pragma once

#include <string>
#include <string_view>

namespace rocetune {

// How a piece of text is meant; each has one look on a terminal.
enum class Paint {
  plain,
  strong,   // headings, names
  faint,    // what is absent, not checked, secondary
  good,     // green
  notice,   // cyan: information
  warning,  // yellow
  bad,      // red: an error
  severe,   // white on red: critical, needs a person now
};

// When to use colours: --colour=auto|always|never.
enum class ColourChoice { automatic, always, never };

bool is_terminal(int fd);
// Columns of the terminal at `fd`: by ioctl, else the environment's COLUMNS, else 80. 20..1000.
int terminal_width(int fd);
// automatic: only on a terminal, unless NO_COLOR is set and not empty (https://no-color.org) or TERM is
// "dumb".
bool uses_colour(ColourChoice choice, int fd);

// `text` between the SGR sequences (ECMA-48 8.3.117) of `paint`; unchanged if not `coloured` or plain.
std::string painted(std::string_view text, Paint paint, bool coloured);

// Redraws a block of lines in place, for live tables. Returns bytes and writes nothing itself.
class LiveBlock {
 public:
  // The bytes that show `frame` (lines ended by newlines, none wider than the terminal) where the last frame
  // stood.
  std::string redraw(std::string_view frame);
  // The next frame starts below, the last one stays.
  void leave() { lines_ = 0; }

 private:
  int lines_ = 0;  // of the frame on the screen
};

}  // namespace rocetune
