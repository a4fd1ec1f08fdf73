#include "tools/rocetune/consent.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

namespace rocetune::cli {

Expected<> consent(bool yes, std::string_view question) {
  if (yes) return {};
  if (::isatty(STDIN_FILENO) == 0) {
    return fail(ErrorKind::bad_input, "standard input is no terminal: found no --yes, allowed: --yes");
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes" || answer == "Y") return {};
  return fail(ErrorKind::bad_input, "nothing was changed");
}

}  // namespace rocetune::cli
