// Reads a host: what the kernel answers by socket, files below a root directory, NIC rows; out comes a Host.
#pragma once

#include <optional>
#include <string>

#include "agent/host/host_files.h"
#include "agent/host/kernel_answers.h"
#include "agent/host/model.h"
#include "agent/host/nic_row.h"

namespace rocetune::host {

struct ReadOptions {
  // "/" is the running host. Another folder is either a container's view of its host (same boot id: the
  // running kernel is asked) or a tree of files, whose kernel answers lie in <root>/kernel.json.
  std::string root = "/";
  // Only this network namespace: a name of /run/netns or a path. None: the reader's own and every other that
  // holds NICs.
  std::optional<std::string> network_namespace;
};

// Errors: bad_input for a root that is no folder, a kernel.json that makes no sense, a namespace that is not
// there. What cannot be read on the host itself is in the Host, as unavailable.
Expected<Host> read_host(const ReadOptions& options, const NicTable& nics);

// The same from given sources, one network namespace.
Host read_host_from(const HostFiles& files, const KernelAnswers& kernel, const NicTable& nics);

// settings: without GID tables, which are hundreds of files and nothing that a knob sets.
enum class PortDetail { everything, settings };

// The ports of one namespace's view, sorted.
std::vector<Port> read_ports(const HostFiles& files, const KernelAnswers& kernel, const NicTable& nics,
                             const Observed<Lockdown>& lockdown, const std::vector<Bond>& bonds,
                             PortDetail detail = PortDetail::everything);

// By PCI address, then name; ports without one last.
void sort_ports(std::vector<Port>& ports);

}  // namespace rocetune::host
