// `rocetune sim`: one what-if on the virtual fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/terminal.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

struct SimCommand {
  std::string scenario;               // a file, or a name below configs/scenarios
  bool list = false;                  // the shipped scenarios instead
  std::optional<std::uint64_t> seed;  // instead of the scenario's
  std::vector<std::string> settings;  // KEY=VALUE, put over the scenario
  std::vector<std::string> sweeps;    // KEY=VALUE,VALUE...
  std::uint32_t seeds = 1;            // each combination with so many, from `seed` on
  std::vector<std::string> metrics;   // paths of the JSON: what runs are compared by
  std::uint32_t threads = 0;          // 0: SweepPlan's own choice
  bool series = false;                // what changes over time, in the JSON
  bool fluid = false;                 // the fluid model alone, no packet
  std::string html;                   // also a page, to this file
  bool json = false;
  ColourChoice colour = ColourChoice::automatic;
};

// findings: a checker does not hold.
ExitCode run_sim(const SimCommand& command);

}  // namespace rocetune::cli
