// The topology part as its users see it: how near NICs and GPUs are. No hwloc header here.
#pragma once

#include <string>
#include <vector>

#include "agent/host/model.h"
#include "dataplane/base/part.h"

namespace rocetune::host {

// A NIC whose distances are wanted.
struct NicPlace {
  std::string port;         // netdev
  std::string pci_address;  // 0000:03:00.0
};

class TopologyPart {
 public:
  static constexpr PartContract kContract{"topology", 1};
  // Distances of every NIC to every GPU, NICs first in order, then GPUs. Functions that the topology does not
  // show are left out. `root` is the host's root directory. Errors: absent = no PCI devices in the topology.
  virtual Expected<std::vector<Affinity>> affinity(const std::string& root, const std::vector<NicPlace>& nics,
                                                   const std::vector<std::string>& gpus) = 0;

 protected:
  ~TopologyPart() = default;
};

}  // namespace rocetune::host
