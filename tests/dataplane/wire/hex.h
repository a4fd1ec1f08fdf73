// Bytes from a line of hexadecimal digits; blanks are skipped.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace rocetune::wire {

inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes;
}

}  // namespace rocetune::wire
