// A report for programs: `doctor --json`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/host/model.h"

namespace rocetune::diagnose {

// One thing that was read: a file, or the live host.
struct Input {
  std::string file;    // as given; empty for the live host
  std::string format;  // "live-host", "rocetune-host", "virtual-host"
  std::optional<std::string> host;
  std::optional<std::string> phase;   // "before", "after", where a name says so
  int first_line = 0, last_line = 0;  // of a text, from 1; 0: all of it
};

// Numbers that a report rests on, by name; a fact that is not known is not there.
using FactTable = std::map<std::string, double>;

// Facts of a host: mtu.active_B, mtu.netdev_B, qos.pfc_mask, qos.dscp_N_prio, ets.prioN_share_pct, gid.rows,
// gid.best_index, pcie.width. With several RoCE ports the name holds the port's name, as in
// gid.best_index.mlx5_1 and qos.eth0.pfc_mask. "@" and `origin` follow each name.
FactTable facts_of(const host::Host& host, const std::string& origin);

std::string to_json_text(const Report& report, const std::vector<Input>& inputs, const FactTable& facts);

}  // namespace rocetune::diagnose
