#include "agent/host/topology/affinity.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace rocetune::host {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Expected<Topology> load(const std::string& root) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return fail_os(errno, "hwloc");
  Topology topology(raw);
  // hwloc takes another root only by its environment; it reads it while loading.
  setenv("HWLOC_HIDE_ERRORS", "2", 0);  // it would write to standard error
  if (root != "/") setenv("HWLOC_FSROOT", root.c_str(), 1);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  // PCI by sysfs, which has a root, not by libpciaccess.
  hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci");
  const int status = hwloc_topology_load(raw);
  const int error = errno;
  if (root != "/") unsetenv("HWLOC_FSROOT");
  if (status != 0) return fail_os(error, "hwloc cannot read the topology of {}", root);
  return topology;
}

// The first object above both. hwloc's own function goes by depth, which I/O objects do not have.
hwloc_obj_t meeting_point(hwloc_obj_t a, hwloc_obj_t b) {
  for (hwloc_obj_t above_a = a; above_a != nullptr; above_a = above_a->parent) {
    for (hwloc_obj_t above_b = b; above_b != nullptr; above_b = above_b->parent) {
      if (above_a == above_b) return above_a;
    }
  }
  return nullptr;  // cannot be: both hang on the machine
}

// The nodes a device is near to.
hwloc_const_nodeset_t nodes_of(hwloc_topology_t topology, hwloc_obj_t device) {
  return hwloc_get_non_io_ancestor_obj(topology, device)->nodeset;
}

}  // namespace

PciDistance distance_between(hwloc_topology_t topology, hwloc_obj_t a, hwloc_obj_t b) {
  hwloc_obj_t meeting = meeting_point(a, b);
  ROCETUNE_ASSERT(meeting != nullptr);
  if (meeting->type == HWLOC_OBJ_BRIDGE) {
    return meeting->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST ? PciDistance::same_root
                                                                        : PciDistance::same_switch;
  }
  const hwloc_const_nodeset_t near_a = nodes_of(topology, a);
  const hwloc_const_nodeset_t near_b = nodes_of(topology, b);
  const bool same = hwloc_bitmap_isequal(near_a, near_b) != 0 && hwloc_bitmap_weight(near_a) == 1;
  return same ? PciDistance::same_numa : PciDistance::cross_numa;
}

Expected<std::vector<Affinity>> read_affinity(const std::string& root, const std::vector<NicPlace>& nics,
                                              const std::vector<std::string>& gpus) {
  const auto topology = load(root);
  if (!topology) return tl::unexpected(topology.error());
  if (hwloc_get_next_pcidev(topology->get(), nullptr) == nullptr) {
    return fail(ErrorKind::absent, "hwloc shows no PCI devices below {}", root);
  }
  std::vector<Affinity> out;
  for (const NicPlace& nic : nics) {
    hwloc_obj_t from = hwloc_get_pcidev_by_busidstring(topology->get(), nic.pci_address.c_str());
    if (from == nullptr) continue;
    for (const std::string& gpu : gpus) {
      hwloc_obj_t to = hwloc_get_pcidev_by_busidstring(topology->get(), gpu.c_str());
      if (to != nullptr) out.push_back({nic.port, gpu, distance_between(topology->get(), from, to)});
    }
  }
  return out;
}

}  // namespace rocetune::host
