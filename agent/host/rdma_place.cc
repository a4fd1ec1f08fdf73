#include "agent/host/rdma_place.h"

#include <algorithm>

#include "agent/host/rdma_files.h"

namespace rocetune::host {
namespace {

const LinkEntry* link_named(const KernelAnswers& kernel, const std::string& name) {
  const auto found = std::find_if(kernel.links->begin(), kernel.links->end(),
                                  [&](const LinkEntry& link) { return link.name == name; });
  return found == kernel.links->end() ? nullptr : &*found;
}

std::string netdev_by_netlink(const KernelAnswers& kernel, const std::string& device, int port) {
  std::string named;
  if (!kernel.rdma) return named;
  for (const RdmaAnswers& answer : *kernel.rdma) {
    for (const RdmaLinkEntry& link : answer.links) {
      if (link.device == device && link.port == static_cast<std::uint32_t>(port))
        named = link.netdev.value_or("");
    }
  }
  return named;
}

// Where one port of a device stands, and the netdev that its first GID names.
struct Signs {
  std::string netdev;
  std::string by_gid;
};
Signs signs_of(const HostFiles& files, const KernelAnswers& kernel, const std::string& device, int port) {
  Signs out{netdev_by_netlink(kernel, device, port), ""};
  out.by_gid = if_known(files.attribute(
                            fmt::format("/sys/class/infiniband/{}/ports/{}/gid_attrs/ndevs/0", device, port)))
                   .value_or("");
  if (out.netdev.empty()) out.netdev = link_named(kernel, out.by_gid) != nullptr ? out.by_gid : "";
  if (out.netdev.empty()) {
    out.netdev =
        if_known(files.attribute(fmt::format("/sys/class/infiniband/{}/parent", device))).value_or("");
  }
  if (link_named(kernel, out.netdev) == nullptr) out.netdev.clear();
  return out;
}

const Bond* bond_of(const std::vector<Bond>& bonds, const std::string& netdev) {
  const auto found = std::find_if(bonds.begin(), bonds.end(), [&](const Bond& bond) {
    return std::find(bond.members.begin(), bond.members.end(), netdev) != bond.members.end();
  });
  return found == bonds.end() ? nullptr : &*found;
}

}  // namespace

std::vector<RdmaPlace> find_rdma_places(const HostFiles& files, const KernelAnswers& kernel,
                                        const std::vector<Bond>& bonds) {
  std::vector<RdmaPlace> out;
  std::vector<std::string> by_gid;
  const auto devices = rdma_device_names(files);
  if (!devices) return out;
  for (const std::string& device : *devices) {
    for (const int port : rdma_port_numbers(files, device)) {
      Signs signs = signs_of(files, kernel, device, port);
      if (signs.netdev.empty()) continue;  // InfiniBand, or a netdev of another namespace
      out.push_back({device, port, std::move(signs.netdev), is_software_rdma(files, device)});
      by_gid.push_back(std::move(signs.by_gid));
    }
  }
  const std::vector<RdmaPlace> named = out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Bond* const bond = bond_of(bonds, named[i].netdev);
    if (bond == nullptr || by_gid[i] != bond->name || link_named(kernel, bond->name) == nullptr) continue;
    const bool is_the_only_one = std::none_of(named.begin(), named.end(), [&](const RdmaPlace& other) {
      return other.netdev != named[i].netdev && other.is_software == named[i].is_software &&
             bond_of(bonds, other.netdev) == bond;
    });
    if (is_the_only_one) out[i].netdev = bond->name;
  }
  return out;
}

}  // namespace rocetune::host
