// Distances in an hwloc topology.
#pragma once

#include <hwloc.h>

#include <string>
#include <vector>

#include "agent/host/topology/part.h"

namespace rocetune::host {

// See TopologyPart::affinity.
Expected<std::vector<Affinity>> read_affinity(const std::string& root, const std::vector<NicPlace>& nics,
                                              const std::vector<std::string>& gpus);

// same_switch: they meet in a PCI bridge, so traffic between them need not reach the root complex. same_root:
// they meet in a host bridge. same_numa: in one NUMA node. Both objects are PCI devices of `topology`.
PciDistance distance_between(hwloc_topology_t topology, hwloc_obj_t a, hwloc_obj_t b);

}  // namespace rocetune::host
