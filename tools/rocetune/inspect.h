// `rocetune inspect`: what this host is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/host/model.h"
#include "agent/host/nic_row.h"
#include "dataplane/base/text_table.h"
#include "tools/rocetune/command_line.h"
#include "tools/rocetune/fabric_host.h"
#include "tools/rocetune/part_facts.h"

namespace rocetune::cli {

struct InspectCommand {
  CommonOptions common;
  FabricOptions fabric;
  std::string from;                // a snapshot, or what inspect --json wrote; empty: this host
  std::vector<std::string> ports;  // netdevs; empty: all
  std::optional<std::string> network_namespace;
  std::string config_directory;  // empty: what is built in
  ColourChoice colour = ColourChoice::automatic;
  bool all_interfaces = false;
};

ExitCode run_inspect(const InspectCommand& command);

// For people, at most look.width columns if it is set.
std::string inspect_text(const host::Host& host, const host::NicTable& nics, const PartFacts& parts,
                         bool all_interfaces, const TextTable::Look& look);
// A Host with "parts", "rdma_devices", "dpdk" and "interfaces" beside its own fields: host::host_from_json
// reads it back.
std::string inspect_json(const host::Host& host, const PartFacts& parts);

}  // namespace rocetune::cli
