// Writes knobs into the running kernel: DCB and links by netlink, ethtool by ioctl, congestion control and
// rdma_cm defaults by file. Files are below a root directory, sockets are the running kernel's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/knob_writer.h"
#include "agent/host/nic_row.h"

namespace rocetune::host {

class KernelKnobWriter : public KnobWriter {
 public:
  // `nics` outlives the writer.
  KernelKnobWriter(std::string root, const NicTable& nics) : files_(std::move(root)), nics_(nics) {}

  Expected<> write(const Port& port, const std::vector<KnobWrite>& batch) override;
  Expected<> reveal(const Port& port, const Knob& knob) override;
  Expected<> conceal(const Port& port, const Knob& knob) override;

 private:
  Expected<> write_files(const Port& port, const std::vector<KnobWrite>& batch);

  HostFiles files_;
  const NicTable& nics_;
};

// "/sys/kernel/config/rdma_cm/mlx5_0". Errors: absent without an RDMA device.
Expected<std::string> cm_folder(const Port& port);
// The file by which a namespace is entered: of a name of /run/netns, of "pid N", or the path itself.
std::string namespace_path(const std::string& name);

}  // namespace rocetune::host
