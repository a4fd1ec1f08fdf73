// Format "command": command lines that set up, measure or start something, with what they set for RDMA.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/logs/settings.h"

namespace rocetune::evidence {

struct CommandLine {
  std::string role;                // "server" of "server: ib_write_bw ..."; empty: none stood in front
  std::string program;             // without its folder: "ib_write_bw", "mpirun"
  std::vector<std::string> words;  // all of them, the program's name included; at most kMostWords
  int line = 0;
  static constexpr std::size_t kMostWords = 256;

  // The value of an option: "-x 3", "--tclass=106"; empty: not given.
  std::string_view value_of(std::string_view option) const;
  bool has(std::string_view word) const;
};

struct CommandLines {
  std::vector<CommandLine> commands;
  std::vector<Setting> settings;  // mpirun -x NAME=value, NAME=value in front, export, docker -e
  static constexpr std::size_t kMost = 1024;
};

// One command line; nothing if it begins with no program that is known here. `prompted`: it stood behind a
// prompt, so that any program is believed.
struct ReadCommand {
  CommandLine command;
  std::vector<Setting> settings;
};
std::optional<ReadCommand> command_of(std::string_view line, bool prompted);

Format command_format();

}  // namespace rocetune::evidence
