// mlxconfig query: firmware settings by device. Without -e the values are those of the next boot.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct MlxconfigSetting {
  std::string name;                    // "ROCE_CC_PRIO_MASK_P1"
  std::string next_boot;               // "True(1)", "255"
  std::optional<std::string> current;  // with -e
  int line = 0;
};

struct MlxconfigDevice {
  std::string device;       // "0000:03:00.0", "/dev/mst/mt4129_pciconf0"; empty in a fragment
  std::string type;         // "ConnectX7"
  std::string part_number;  // "MCX75310AAS-NEA_Ax"
  std::vector<MlxconfigSetting> settings;
  int line = 0;

  const MlxconfigSetting* find(std::string_view name) const;
};

struct MlxconfigQuery {
  std::vector<MlxconfigDevice> devices;
};

// The number of a value: "True(1)" -> 1, "255" -> 255.
std::optional<long long> mlxconfig_number(std::string_view value);

Format mlxconfig_format();

}  // namespace rocetune::evidence
