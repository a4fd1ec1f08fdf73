// Variables of libraries as environments, command lines and logs give them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/document.h"

namespace rocetune::evidence {

struct Setting {
  std::string name;   // "NCCL_IB_TIMEOUT"
  std::string value;  // without quotes
  int line = 0;
  std::string host;  // that the line names; empty: none
};

// Whether a variable steers NCCL, RCCL, UCX, NVSHMEM, Mooncake or another program that uses RDMA.
bool is_rdma_variable(std::string_view name);

// "NAME=value", "export NAME=value", "NAME = value", "- NAME=value", and for variables of RDMA programs
// "NAME: value" and "setenv NAME value". Nothing if the line is anything else: a name has capital letters,
// digits and at least one underscore.
std::optional<Setting> setting_of(std::string_view line);
// "NAME=value" and nothing around it.
std::optional<Setting> assignment_of(std::string_view word);

// The traffic class byte that a variable sets for RDMA; nothing for another variable, "auto" and what is no
// byte.
std::optional<int> traffic_class_of(const Setting& setting);
// The facts map.traffic_class and map.dscp, from the first that sets one.
void add_traffic_class_facts(Document& document, const std::vector<Setting>& settings);

}  // namespace rocetune::evidence
