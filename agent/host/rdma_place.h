// Which netdev an RDMA device's port stands on.
#pragma once

#include <string>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/kernel_answers.h"
#include "agent/host/model.h"

namespace rocetune::host {

// One port of an RDMA device and the netdev it stands on.
struct RdmaPlace {
  std::string device;
  int port = 1;
  std::string netdev;
  bool is_software = false;  // rdma_rxe, on whatever netdev
};

// All of this view's namespace; none if its RDMA devices cannot be listed. A device whose GIDs are a bond's
// stands on the bond if it is the bond's only one (mlx5's LAG). Where every member has a device of its own,
// each stands on its member: the bond's GIDs move from one to the other with the active member.
std::vector<RdmaPlace> find_rdma_places(const HostFiles& files, const KernelAnswers& kernel,
                                        const std::vector<Bond>& bonds);

}  // namespace rocetune::host
