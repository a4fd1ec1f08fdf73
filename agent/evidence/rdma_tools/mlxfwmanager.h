// mlxfwmanager --query (also the like rows of flint): adapters with part number, PSID, firmware now and
// available.
#pragma once

#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct AdapterFirmware {
  std::string type, part_number, psid, pci_device;
  std::string firmware;   // "28.39.1002"
  std::string available;  // "28.42.1000"; empty: none told
  std::string status;     // "Update required"
  int line = 0, psid_line = 0, firmware_line = 0;
};

struct AdapterList {
  std::vector<AdapterFirmware> adapters;
};

Format mlxfwmanager_format();

}  // namespace rocetune::evidence
