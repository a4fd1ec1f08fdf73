// `--fabric SCENARIO --host h3`: a host of the virtual fabric in place of this machine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/virtual_host/fabric_run.h"

namespace rocetune::cli {

struct FabricOptions {
  std::string scenario;               // a file, or a name below configs/scenarios; empty: this machine
  std::string host;                   // "h3"
  std::vector<std::string> settings;  // KEY=VALUE, put over the scenario
  std::optional<std::uint64_t> seed;  // instead of the scenario's
  Duration at;                        // virtual time at which it is looked at
  std::string plan_file;              // what `plan -o` wrote, applied before time begins; empty: none
  bool is_given() const { return !scenario.empty(); }
};

struct FabricHost {
  std::unique_ptr<virtual_host::FabricRun> run;  // stands at FabricOptions::at
  fabric::NodeId id = 0;
};

// Errors: bad_input for the scenario, its settings, the host, the plan; conflict for a plan that was made for
// other settings than the host has; unsupported for a change that the fabric cannot have.
Expected<FabricHost> open_fabric_host(const FabricOptions& options);

}  // namespace rocetune::cli
