// What a host offers to DPDK, read from its files.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/rooted_path.h"
#include "dataplane/port/dpdk/part.h"

namespace rocetune::dpdk {

// Error: absent = a kernel without huge pages.
Observed<std::vector<HugepagePool>> read_hugepages(const RootedPath& host);

// Drivers for ports in `folder` (a host path): librte_net_<name>.so. Error: absent = no such folder.
Observed<std::vector<Driver>> read_drivers(const RootedPath& host, const std::string& folder);

// Free huge pages of some size, on a mount of that size.
Requirement hugepage_requirement(const Observed<std::vector<HugepagePool>>& pools);
// A driver to poll a port with.
Requirement driver_requirement(const Observed<std::vector<Driver>>& drivers);
// A place for the environment's own files: /run/dpdk.
Requirement runtime_folder_requirement(const RootedPath& host);
// /dev/vfio/vfio, and an IOMMU that has put devices into groups.
Requirement vfio_requirement(const RootedPath& host);

}  // namespace rocetune::dpdk
