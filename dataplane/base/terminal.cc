#include "dataplane/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace rocetune {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view sequence_of(Paint paint) {
  switch (paint) {
    case Paint::plain:
      return "";
    case Paint::strong:
      return "\033[1m";
    case Paint::faint:
      return "\033[2m";
    case Paint::good:
      return "\033[32m";
    case Paint::notice:
      return "\033[36m";
    case Paint::warning:
      return "\033[33m";
    case Paint::bad:
      return "\033[31m";
    case Paint::severe:
      return "\033[1;37;41m";
  }
  return "";
}

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

int terminal_width(int fd) {
  int width = 0;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width == 0) width = std::atoi(std::string(environment("COLUMNS")).c_str());
  return width <= 0 ? 80 : std::clamp(width, 20, 1000);
}

bool uses_colour(ColourChoice choice, int fd) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" && is_terminal(fd);
}

std::string painted(std::string_view text, Paint paint, bool coloured) {
  if (!coloured || paint == Paint::plain || text.empty()) return std::string(text);
  return std::string(sequence_of(paint)) + std::string(text) + "\033[0m";
}

std::string LiveBlock::redraw(std::string_view frame) {
  std::string out;
  if (lines_ > 0) out += "\033[" + std::to_string(lines_) + "A";
  out += '\r';
  // Clear line by line and the rest at the end: clearing everything first would flicker.
  lines_ = 0;
  while (!frame.empty()) {
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    out.append(frame.substr(0, end)).append("\033[K\n");
    frame.remove_prefix(std::min(end + 1, frame.size()));
    ++lines_;
  }
  return out + "\033[J";
}

}  // namespace rocetune
