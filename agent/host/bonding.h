// Bonds as /proc/net/bonding/<name> prints them (drivers/net/bonding/bond_procfs.c).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/model.h"

namespace rocetune::host {

// One bond's text. Errors: io if it has no bonding mode.
Expected<Bond> parse_bond(const std::string& name, std::string_view text);

// All bonds of this view's namespace, by name; none if the bonding module is not loaded. A bond that cannot
// be read is left out.
std::vector<Bond> read_bonds(const HostFiles& files);

}  // namespace rocetune::host
