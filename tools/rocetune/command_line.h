// The command line: flags in, one plain options struct per subcommand out. CLI11 is seen only in
// command_line.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dataplane/base/error.h"

namespace rocetune::cli {

// Options that every subcommand takes.
struct CommonOptions {
  bool json = false;
  std::string root = "/";  // host root: a fixture tree, a container's view of its host
};

// Prints "rocetune: text" on standard error; of an error, gives the code that belongs to it.
void complain(std::string_view text);
ExitCode complain(const Error& error);
// To standard output, at once.
void print(std::string_view text);
// The same, and failed_undone with a complaint in the command's name if it could not be written.
ExitCode print_report(std::string_view command, std::string_view text);

// Parses and runs. Bad usage: message with the nearest known name on standard error, exit code 2.
ExitCode run(int argc, const char* const* argv);

}  // namespace rocetune::cli
