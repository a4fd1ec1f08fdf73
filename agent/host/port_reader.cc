// The ports of one network namespace: which netdevs count, what each is, and what hangs on it.
#include <algorithm>
#include <map>

#include "agent/host/attachments.h"
#include "agent/host/congestion_files.h"
#include "agent/host/host_reader.h"
#include "agent/host/pcie.h"
#include "agent/host/rdma_files.h"
#include "agent/host/rdma_place.h"

namespace rocetune::host {
namespace {

class PortReader {
 public:
  PortReader(const HostFiles& files, const KernelAnswers& kernel, const NicTable& nics,
             const Observed<Lockdown>& lockdown, const std::vector<Bond>& bonds, PortDetail detail)
      : files_(files), kernel_(kernel), nics_(nics), lockdown_(lockdown), bonds_(bonds), detail_(detail) {
    for (const LinkEntry& link : *kernel.links) names_[link.index] = link.name;
    rdma_ = find_rdma_places(files, kernel, bonds);
    attachments_ = read_attachments(files, kernel);
  }

  std::vector<Port> read() const {
    std::vector<Port> out;
    for (const LinkEntry& link : *kernel_.links) {
      if (link.is_ethernet && counts(link)) out.push_back(read_port(link));
    }
    return out;
  }

 private:
  static std::string net(const std::string& name) { return "/sys/class/net/" + name; }

  const RdmaPlace* rdma_on(const std::string& netdev) const;
  bool is_nic(const LinkEntry& link) const {
    return link.parent_device.has_value() || files_.exists(net(link.name) + "/device");
  }
  const Bond* bond_named(const std::string& name) const;
  bool counts(const LinkEntry& link) const;
  const LinkEntry* link_named(const std::string& name) const;
  const PortAnswers& answers_of(const std::string& name) const;
  std::optional<std::string> name_of(std::optional<int> index) const;

  const std::string& driver_of(const std::string& name) const;
  const NicRow& row_of(const LinkEntry& link, const Port& port, const RdmaPlace* place) const;
  Port read_port(const LinkEntry& link) const;
  void read_identity(const LinkEntry& link, const PortAnswers& answers, Port& port) const;
  void read_devlink(Port& port) const;
  PortRole role_of(const LinkEntry& link, const PortAnswers& answers, const Port& port) const;
  Observed<Link> read_link(const LinkEntry& link, const PortAnswers& answers) const;
  Observed<RdmaPort> read_rdma(const LinkEntry& link, const NicRow& row, const Port& port) const;
  Dcb read_dcb(const NicRow& row, const PortAnswers& answers, const Port& port) const;
  Observed<Attachments> attachments_of(const LinkEntry& link) const;

  const HostFiles& files_;
  const KernelAnswers& kernel_;
  const NicTable& nics_;
  const Observed<Lockdown>& lockdown_;
  const std::vector<Bond>& bonds_;
  const PortDetail detail_;
  std::map<int, std::string> names_;
  std::vector<RdmaPlace> rdma_;
  Observed<AttachmentSurvey> attachments_ = not_read();
};

// A NIC's own device before a software one on the same netdev.
const RdmaPlace* PortReader::rdma_on(const std::string& netdev) const {
  const RdmaPlace* found = nullptr;
  for (const RdmaPlace& place : rdma_) {
    if (place.netdev == netdev && (found == nullptr || (!place.is_software && found->is_software)))
      found = &place;
  }
  return found;
}

const Bond* PortReader::bond_named(const std::string& name) const {
  const auto found =
      std::find_if(bonds_.begin(), bonds_.end(), [&](const Bond& bond) { return bond.name == name; });
  return found == bonds_.end() ? nullptr : &*found;
}

// NICs, bonds over NICs, and whatever carries an RDMA device.
bool PortReader::counts(const LinkEntry& link) const {
  if (is_nic(link) || rdma_on(link.name) != nullptr) return true;
  const Bond* const bond = bond_named(link.name);
  if (bond == nullptr) return false;
  return std::any_of(bond->members.begin(), bond->members.end(), [&](const std::string& member) {
    const LinkEntry* const entry = link_named(member);
    return entry != nullptr && is_nic(*entry);
  });
}

const LinkEntry* PortReader::link_named(const std::string& name) const {
  const auto found = std::find_if(kernel_.links->begin(), kernel_.links->end(),
                                  [&](const LinkEntry& link) { return link.name == name; });
  return found == kernel_.links->end() ? nullptr : &*found;
}

const PortAnswers& PortReader::answers_of(const std::string& name) const {
  static const PortAnswers kNothing;
  const auto found = kernel_.ports.find(name);
  return found == kernel_.ports.end() ? kNothing : found->second;
}

std::optional<std::string> PortReader::name_of(std::optional<int> index) const {
  if (!index) return std::nullopt;
  const auto found = names_.find(*index);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

const std::string& PortReader::driver_of(const std::string& name) const {
  static const std::string kNone;
  const PortAnswers& answers = answers_of(name);
  return answers.driver ? answers.driver->driver : kNone;
}

// A bond is of its members' kind: its RDMA device is theirs. A software device decides where no row knows the
// NIC.
const NicRow& PortReader::row_of(const LinkEntry& link, const Port& port, const RdmaPlace* place) const {
  if (const Bond* const bond = bond_named(link.name); bond != nullptr && !bond->members.empty()) {
    return nics_.for_driver(driver_of(bond->members.front()));
  }
  const NicRow& by_driver = nics_.for_driver(port.driver);
  const bool only_software = place != nullptr && place->is_software && by_driver.name == "unknown";
  return only_software ? nics_.named("rxe") : by_driver;
}

Port PortReader::read_port(const LinkEntry& link) const {
  const PortAnswers& answers = answers_of(link.name);
  Port port{.name = link.name, .ifindex = link.index};
  read_identity(link, answers, port);
  read_devlink(port);
  const RdmaPlace* const place = rdma_on(link.name);
  const NicRow& row = row_of(link, port, place);
  port.nic = row.name;
  port.dcb = read_dcb(row, answers, port);
  port.role = role_of(link, answers, port);
  port.link = read_link(link, answers);
  port.pcie =
      port.pci_address ? Observed<PcieLink>(read_pcie(files_, *port.pci_address)) : absent("no PCI function");
  port.rdma = read_rdma(link, row, port);
  port.pause = answers.pause;
  port.pfc_prevention_ms = answers.pfc_prevention_ms;
  port.cc_params = read_cc_params(files_, row, port, lockdown_);
  if (const auto folder = cc_folder(files_, row, port); folder && port.cc_params) port.cc_folder = *folder;
  const bool has_rdma = place != nullptr || (port.bond && rdma_on(*port.bond) != nullptr);
  port.congestion_control = read_congestion_control(files_, row, port, has_rdma);
  port.ecn_enable = read_ecn_enable(files_, link.name);
  port.attachments = attachments_of(link);
  return port;
}

void PortReader::read_identity(const LinkEntry& link, const PortAnswers& answers, Port& port) const {
  const std::string device = net(link.name) + "/device";
  port.driver =
      answers.driver ? answers.driver->driver : if_known(files_.link_name(device + "/driver")).value_or("");
  if (answers.driver && !answers.driver->firmware.empty()) port.firmware = answers.driver->firmware;
  if (link.parent_bus == "pci") port.pci_address = link.parent_device;
  if (!port.pci_address && files_.exists(device)) {
    if (const auto path = files_.resolved(device)) port.pci_address = pci_address_in(*path);
  }
  if (port.pci_address) {
    port.pci_id = read_pci_id(files_, *port.pci_address);
    const auto node = files_.integer(fmt::format("/sys/bus/pci/devices/{}/numa_node", *port.pci_address));
    if (node && *node >= 0) port.numa_node = static_cast<int>(*node);
    const std::string function = fmt::format("/sys/bus/pci/devices/{}/physfn", *port.pci_address);
    if (files_.exists(function)) {
      const auto netdevs = files_.names(function + "/net");
      port.physical_function =
          netdevs && !netdevs->empty() ? netdevs->front() : if_known(files_.link_name(function)).value_or("");
    }
  }
  if (!port.pci_address) port.firmware.reset();  // software drivers put a version of their own there
  // A bond rewrites its members' addresses; the permanent one identifies the port.
  port.mac = link.permanent_mac ? link.permanent_mac : link.mac;
  port.mtu = link.mtu;
  port.max_mtu = link.max_mtu;
  if (kernel_.addresses) {
    for (const AddressEntry& address : *kernel_.addresses) {
      if (address.index == link.index) port.addresses.push_back(address.address);
    }
  }
  if (link.slave_kind == "bond") port.bond = name_of(link.master);
  for (const LinkEntry& other : *kernel_.links) {
    const bool stands_on_it =
        other.lower == link.index && other.index != link.index && !other.kind.empty() && other.kind != "veth";
    const bool is_master = link.master == other.index && link.slave_kind != "bond";
    if (stands_on_it || is_master) port.uppers.push_back(other.name);
  }
}

void PortReader::read_devlink(Port& port) const {
  if (!kernel_.devlink) {
    port.devlink_params = tl::unexpected(kernel_.devlink.error());
    port.eswitch_mode = tl::unexpected(kernel_.devlink.error());
    return;
  }
  const auto found =
      std::find_if(kernel_.devlink->begin(), kernel_.devlink->end(), [&](const DevlinkEntry& entry) {
        return port.pci_address && entry.bus == "pci" && entry.device == *port.pci_address;
      });
  if (found == kernel_.devlink->end()) {
    port.devlink_params = absent("the driver registers no devlink device");
    port.eswitch_mode = absent("the driver registers no devlink device");
    return;
  }
  port.devlink_params = found->params;
  port.eswitch_mode = found->eswitch_mode;
  const auto version = [&](const char* name) -> std::optional<std::string> {
    const auto value = found->versions.find(name);
    return value == found->versions.end() ? std::nullopt : std::optional(value->second);
  };
  port.psid = version("fw.psid");
  port.part_number = version("board.id");
  if (!port.firmware) port.firmware = version("fw");
}

// Signals, in this order. bond: the link's kind. software: no bus device. virtual function: physfn of its PCI
// device. Representors: a switch id while the eswitch is not in legacy mode; the wire's own is named "p<n>".
// DPU host: a BlueField function that is no VF and whose driver has no DCB operations, which mlx5 leaves out
// exactly where firmware does not let the function manage the port (vport_group_manager). A BlueField in NIC
// mode has them.
PortRole PortReader::role_of(const LinkEntry& link, const PortAnswers& answers, const Port& port) const {
  if (link.kind == "bond") return PortRole::bond;
  if (!is_nic(link)) return PortRole::software;
  if (port.physical_function) return PortRole::virtual_function;
  const bool legacy = port.eswitch_mode && *port.eswitch_mode == "legacy";
  if (link.phys_switch_id && link.phys_port_name && !legacy) {
    const std::string& name = *link.phys_port_name;
    const bool is_wire =
        name.size() > 1 && name[0] == 'p' && name.find_first_not_of("0123456789", 1) == std::string::npos;
    return is_wire ? PortRole::uplink_representor : PortRole::representor;
  }
  const auto& dpu_ids = nics_.named(port.nic).dpu_pci_ids;
  const bool may_be_dpu =
      port.pci_id && std::find(dpu_ids.begin(), dpu_ids.end(), *port.pci_id) != dpu_ids.end();
  if (may_be_dpu && !answers.dcb && answers.dcb.error().kind == Unavailable::Kind::absent)
    return PortRole::dpu_host;
  return PortRole::physical;
}

Observed<Link> PortReader::read_link(const LinkEntry& link, const PortAnswers& answers) const {
  Link out{.admin_up = link.admin_up, .carrier = link.carrier.value_or(false)};
  out.carrier_changes = link.carrier_changes;
  if (answers.link) {
    out.speed = answers.link->speed;
    out.full_duplex = answers.link->full_duplex;
    out.autonegotiation = answers.link->autonegotiation;
  }
  if (answers.lanes) out.lanes = *answers.lanes;
  if (answers.fec) out.fec = *answers.fec;
  return out;
}

Observed<RdmaPort> PortReader::read_rdma(const LinkEntry& link, const NicRow& row, const Port& port) const {
  const RdmaPlace* const place = rdma_on(link.name);
  if (place == nullptr) {
    if (port.bond) {
      if (const RdmaPlace* const shared = rdma_on(*port.bond)) {
        return absent(fmt::format("its RDMA device {} is on {}", shared->device, *port.bond));
      }
    }
    if (!kernel_.rdma && rdma_.empty()) return absent("this kernel has no RDMA (ib_core is not loaded)");
    return absent("no RDMA device on this netdev");
  }
  RdmaPort out = read_rdma_port(files_, place->device, place->port);
  if (detail_ == PortDetail::everything) {
    out.gids = read_gids(files_, place->device, place->port, out.link_layer);
  }
  out.driver = place->is_software ? nics_.named("rxe").rdma_driver : row.rdma_driver;
  out.active_mtu = roce_mtu_for(port.mtu);
  if (out.active_mtu) out.max_mtu = Bytes(4096);
  return out;
}

Dcb PortReader::read_dcb(const NicRow& row, const PortAnswers& answers, const Port& port) const {
  Dcb out;
  if (!answers.dcb) {
    const Unavailable& why = answers.dcb.error();
    const auto each = tl::unexpected(why);
    out.dcbx = each;
    out.pfc = each;
    out.ets = each;
    out.app = each;
    out.buffers = each;
    out.max_rate = each;
    out.peer_pfc = each;
    out.peer_ets = each;
    out.peer_app = each;
    out.trust = each;
  } else {
    out = *answers.dcb;
  }
  if (out.trust) return out;
  if (auto ofed = read_ofed_trust(files_, port.name);
      ofed || ofed.error().kind != Unavailable::Kind::absent) {
    out.trust = ofed;
  } else if (row.dcb.trust == TrustSource::by_dscp_entries && out.app) {
    const bool any = std::any_of(out.app->begin(), out.app->end(),
                                 [](const AppEntry& entry) { return entry.selector == AppSelector::dscp; });
    out.trust = any ? Trust::dscp : Trust::pcp;
  }
  return out;
}

Observed<Attachments> PortReader::attachments_of(const LinkEntry& link) const {
  if (!attachments_) return tl::unexpected(attachments_.error());
  Attachments out = attachments_->anywhere;
  const auto add = [&](int index) {
    const auto found = attachments_->by_link.find(index);
    if (found == attachments_->by_link.end()) return;
    const Attachments& more = found->second;
    out.carries_default_route = out.carries_default_route || more.carries_default_route;
    out.ssh_peers.insert(out.ssh_peers.end(), more.ssh_peers.begin(), more.ssh_peers.end());
    out.storage_mounts.insert(out.storage_mounts.end(), more.storage_mounts.begin(),
                              more.storage_mounts.end());
    out.gateway_routes.insert(out.gateway_routes.end(), more.gateway_routes.begin(),
                              more.gateway_routes.end());
  };
  // What hangs on a VLAN, bridge or bond hangs on the ports below it.
  std::vector<int> to_visit{link.index}, visited;
  while (!to_visit.empty()) {
    const int index = to_visit.back();
    to_visit.pop_back();
    if (std::find(visited.begin(), visited.end(), index) != visited.end()) continue;
    visited.push_back(index);
    add(index);
    for (const LinkEntry& other : *kernel_.links) {
      if (other.index == index && other.master) to_visit.push_back(*other.master);
      if (other.lower == index && other.kind != "veth") to_visit.push_back(other.index);
    }
  }
  return out;
}

}  // namespace

void sort_ports(std::vector<Port>& ports) {
  std::stable_sort(ports.begin(), ports.end(), [](const Port& a, const Port& b) {
    if (a.pci_address.has_value() != b.pci_address.has_value()) return a.pci_address.has_value();
    if (a.pci_address != b.pci_address) return a.pci_address < b.pci_address;
    return a.name < b.name;
  });
}

std::vector<Port> read_ports(const HostFiles& files, const KernelAnswers& kernel, const NicTable& nics,
                             const Observed<Lockdown>& lockdown, const std::vector<Bond>& bonds,
                             PortDetail detail) {
  if (!kernel.links) return {};
  std::vector<Port> out = PortReader(files, kernel, nics, lockdown, bonds, detail).read();
  sort_ports(out);
  return out;
}

}  // namespace rocetune::host
