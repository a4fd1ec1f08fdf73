#include "agent/diagnose/derived_environment.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "agent/diagnose/class_map.h"
#include "agent/host/rdma_carrier.h"

namespace rocetune::diagnose {
namespace {

// A port that a library can use.
struct UsablePort {
  const host::Port* port;
  const host::RdmaPort* rdma;
  const host::Gid* gid;  // RoCE v2, routable; nullptr: none
  std::string name() const { return fmt::format("{}:{}", rdma->device, rdma->port); }
};

const host::Gid* routable_gid(const host::RdmaPort& rdma) {
  const host::Gid* best = nullptr;
  for (const host::Gid& gid : rdma.gids) {
    if (gid.type == host::GidType::roce_v1 || gid.type == host::GidType::ib || gid.is_link_local()) continue;
    if (best == nullptr || (gid.is_ipv4_mapped() && !best->is_ipv4_mapped())) best = &gid;
  }
  return best;
}

// Where chains break, in words.
std::string break_text(ChainBreak at) {
  switch (at) {
    case ChainBreak::none:
      return "";
    case ChainBreak::unknown:
      return "its class map is not known";
    case ChainBreak::trust:
      return "it does not trust DSCP";
    case ChainBreak::no_entry:
      return "no DSCP leads to the RoCE priority";
    case ChainBreak::map:
      return "the RoCE DSCP is mapped to another priority";
    case ChainBreak::pfc:
      return "the RoCE priority has no PFC";
  }
  return "";
}

class Derivation {
 public:
  Derivation(const host::Host& host, const Policy& policy) : host_(host), policy_(policy) {}

  bool find_ports() {
    for (const host::Port& port : host_.ports) {
      if (!port.rdma || port.rdma->link_layer != host::LinkLayer::ethernet) continue;
      const host::RdmaPort& rdma = *port.rdma;
      if (rdma.state.find("ACTIVE") == std::string::npos) {
        out_.not_known.push_back(fmt::format("{} is left out: its port is {}", rdma.device, rdma.state));
        continue;
      }
      const host::Gid* gid = routable_gid(rdma);
      if (gid == nullptr) {
        out_.not_known.push_back(fmt::format(
            "{} is left out: it has no RoCE v2 GID with a routable address (GID-1)", rdma.device));
        continue;
      }
      ports_.push_back({&port, &rdma, gid});
    }
    return !ports_.empty();
  }

  // The class that all of them have, if it is in force on each.
  void find_class() {
    for (const UsablePort& usable : ports_) {
      for (const host::Port* member : host::rdma_siblings(host_, *usable.port)) take_class(*member);
    }
    if (broken_) found_.reset();
    if (found_) out_.class_map = to_text(*found_);
  }

  DerivedEnvironment derive(Library library) {
    switch (library) {
      case Library::nccl:
      case Library::rccl:
        nccl();
        break;
      case Library::ucx:
        ucx();
        break;
      case Library::uccl:
        uccl();
        break;
      case Library::nvshmem:
        nvshmem();
        break;
    }
    return std::move(out_);
  }

 private:
  void take_class(const host::Port& port) {
    if (port.role == host::PortRole::bond) return;  // its members have the map
    const PortFacts facts{host_,     port,
                          policy_,   policy_.traits_of(port.nic),
                          declared_, class_of(port, declared_, policy_.plan)};
    if (!facts.roce_class) {
      refuse(
          fmt::format("{} has no RoCE class: no traffic class is set, packets leave with DSCP 0 (see doctor)",
                      port.name));
      return;
    }
    if (facts.roce_class->confidence == Confidence::low) {
      refuse(fmt::format("the RoCE class of {} could only be guessed ({}): no traffic class is set",
                         port.name, facts.roce_class->origin));
      return;
    }
    const bool by_pcp = port.dcb.trust && *port.dcb.trust == host::Trust::pcp;
    const ChainBreak at =
        by_pcp && is_lossless(facts, facts.roce_class->priority) ? ChainBreak::none : chain_break(facts);
    if (at != ChainBreak::none && !(at == ChainBreak::pfc && is_lossy_on_purpose(facts))) {
      refuse(fmt::format(
          "the class map of {} is not in force: {} (see doctor); a traffic class would lead nowhere",
          port.name, break_text(at)));
      return;
    }
    if (found_ &&
        (found_->dscp != facts.roce_class->dscp || found_->priority != facts.roce_class->priority)) {
      refuse("the RoCE ports have different classes (MAP-3): no single traffic class fits them");
      return;
    }
    found_ = facts.roce_class;
    by_pcp_ = by_pcp;
    ignores_ecn_ = facts.nic != nullptr && facts.nic->ignores_ecn_of_tos;
  }
  void refuse(std::string why) {
    broken_ = true;
    if (std::ranges::find(out_.not_known, why) == out_.not_known.end())
      out_.not_known.push_back(std::move(why));
  }

  void set(std::string name, std::string value, std::string reason) {
    out_.set.push_back({std::move(name), std::move(value), std::move(reason)});
  }
  void leave(std::string name, std::string reason) {
    out_.leave_unset.push_back({std::move(name), "", std::move(reason)});
  }

  std::string devices() const {
    std::string out;
    for (const UsablePort& port : ports_) out += (out.empty() ? "" : ",") + port.name();
    return out;
  }
  void set_devices(const std::string& name, const std::string& prefix) {
    set(name, prefix + devices(),
        fmt::format("The RoCE port{} of this host that {} up with a routable address{}.",
                    ports_.size() == 1 ? "" : "s", ports_.size() == 1 ? "is" : "are",
                    prefix.empty() ? "" : "; \"=\" takes the names exactly"));
  }

  // The byte, not the DSCP: 4 x DSCP + ECT(0).
  void set_traffic_class(const std::string& name, const std::string& level, const std::string& more = "") {
    if (!found_) return;
    if (by_pcp_) {
      if (level.empty()) {
        out_.not_known.push_back(name + ": the ports trust PCP, and this library sets no service level");
        return;
      }
      set(level, std::to_string(found_->priority.value()),
          "The ports trust PCP: the service level becomes the priority of VLAN-tagged packets.");
      return;
    }
    if (!found_->dscp) return;
    set(name, std::to_string(tos_of(*found_->dscp).wire()),
        fmt::format("{}DSCP {} with ECT(0), as a whole byte: {} x 4 + 2. It leads to priority {}{}.{}",
                    more.empty() ? "" : more + " ", found_->dscp->value(), found_->dscp->value(),
                    found_->priority.value(), lossless_text(),
                    ignores_ecn_ ? " This NIC sets the ECN bits itself." : ""));
    if (!level.empty())
      leave(level, "Untagged RoCE v2 is classified by DSCP alone; the service level chooses no class.");
  }
  std::string lossless_text() const {
    for (const UsablePort& port : ports_) {
      if (port.port->dcb.pfc && port.port->dcb.pfc->enabled.contains(found_->priority))
        return ", which has PFC";
    }
    return "";
  }

  // AF_INET or AF_INET6, if it is the same for all.
  void set_addresses(const std::string& family, const std::string& version, const std::string& index) {
    const bool v4 = std::ranges::all_of(ports_, [](const UsablePort& p) { return p.gid->is_ipv4_mapped(); });
    const bool v6 = std::ranges::none_of(ports_, [](const UsablePort& p) { return p.gid->is_ipv4_mapped(); });
    if (v4 || v6) {
      set(family, v4 ? "AF_INET" : "AF_INET6",
          fmt::format("The GIDs that can be routed are {}.", v4 ? "IPv4-mapped" : "global IPv6 addresses"));
    } else {
      out_.not_known.push_back(family + ": some devices have IPv4 and others only IPv6 addresses");
    }
    set(version, "2", "RoCE v2: v1 is not routed and carries no DSCP.");
    leave(index,
          "Indexes differ between hosts and move with addresses; without one the library selects by family "
          "and version.");
  }

  // The interface of the default route, for what is not RDMA.
  void set_bootstrap(const std::string& name, const std::string& prefix = "") {
    for (const host::Port& port : host_.ports) {
      if (!port.attachments || !port.attachments->carries_default_route) continue;
      set(name, prefix + port.name, "Connection set-up: the interface of the default route.");
      return;
    }
    out_.not_known.push_back(
        name +
        ": no interface of this host is known to carry the default route; choose one that "
        "reaches all hosts");
  }

  void set_queue_pairs() {
    for (const host::Bond& bond : host_.bonds) {
      const bool is_used = std::ranges::any_of(ports_, [&](const UsablePort& p) {
        return p.port->name == bond.name || p.port->bond == std::optional(bond.name);
      });
      if (!is_used || bond.active_members.size() < 2) continue;
      set("NCCL_IB_QPS_PER_CONNECTION", std::to_string(2 * bond.active_members.size()),
          fmt::format("{} has {} active members: one queue pair uses one of them (LAG-2).", bond.name,
                      bond.active_members.size()));
      set("NCCL_IB_SPLIT_DATA_ON_QPS", "1",
          "Several queue pairs help a message only if it is split over them.");
      return;
    }
  }

  void nccl() {
    set_devices("NCCL_IB_HCA", "=");
    set_traffic_class("NCCL_IB_TC", "NCCL_IB_SL");
    set_addresses("NCCL_IB_ADDR_FAMILY", "NCCL_IB_ROCE_VERSION_NUM", "NCCL_IB_GID_INDEX");
    set_queue_pairs();
    set_bootstrap("NCCL_SOCKET_IFNAME", "=");
    leave("NCCL_IB_TIMEOUT",
          "The default of 20 (4.3 s a try) is long enough; longer ones hide loss (TMR-1).");
  }
  void ucx() {
    set_devices("UCX_NET_DEVICES", "");
    set_traffic_class("UCX_IB_TRAFFIC_CLASS", "UCX_IB_SL");
    leave("UCX_IB_GID_INDEX", "UCX takes a RoCE v2 GID by itself; a number differs between hosts.");
  }
  void uccl() {
    set_devices("UCCL_IB_HCA", "");
    set_traffic_class("UCCL_IB_TC", "UCCL_IB_SL", "Of its expert-parallel part.");
    if (!by_pcp_)
      set_traffic_class("UCCL_ROCE_TRAFFIC_CLASS", "",
                        "Of its collective plugin, whose default 3 is DSCP 0.");
    std::set<int> indexes;
    for (const UsablePort& port : ports_) indexes.insert(port.gid->index);
    if (indexes.size() == 1) {
      set("UCCL_ROCE_GID_IDX", std::to_string(*indexes.begin()),
          "The plugin selects by number only: this one is RoCE v2 and routable on every device here. See "
          "that it is on the "
          "other hosts.");
    } else {
      out_.not_known.push_back("UCCL_ROCE_GID_IDX: the routable GIDs of the devices have different indexes");
    }
    set_bootstrap("UCCL_SOCKET_IFNAME");
  }
  void nvshmem() {
    set_devices("NVSHMEM_HCA_LIST", "");
    set_traffic_class(
        "NVSHMEM_IB_TRAFFIC_CLASS", "NVSHMEM_IB_SL",
        "Queue pairs made by the GPU do not take a global traffic class: set it in every launch path.");
    set_addresses("NVSHMEM_IB_ADDR_FAMILY", "NVSHMEM_IB_ROCE_VERSION_NUM", "NVSHMEM_IB_GID_INDEX");
    set_bootstrap("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME");
  }

  const host::Host& host_;
  const Policy& policy_;
  const Intent declared_;
  std::vector<UsablePort> ports_;
  std::optional<RoceClass> found_;
  bool broken_ = false, by_pcp_ = false, ignores_ecn_ = false;
  DerivedEnvironment out_;
};

}  // namespace

Expected<DerivedEnvironment> environment_for(Library library, const host::Host& host, const Policy& policy) {
  Derivation derivation(host, policy);
  if (!derivation.find_ports()) {
    std::string why;
    for (const std::string& one : derivation.derive(library).not_known) {
      if (one.find(" is left out: ") != std::string::npos) why += "; " + one;
    }
    return tl::unexpected(
        Error(ErrorKind::bad_input, "no RDMA device here is an Ethernet port that is up" + why));
  }
  derivation.find_class();
  return derivation.derive(library);
}

std::string environment_text(const DerivedEnvironment& environment, Library library,
                             const std::string& host) {
  std::string out =
      fmt::format("# {} on {}. Class map: {}\n", enum_name(library), host.empty() ? "this host" : host,
                  environment.class_map.empty() ? "none in force, see below" : environment.class_map);
  for (const EnvironmentLine& line : environment.set)
    out += fmt::format("\n# {}\nexport {}={}\n", line.reason, line.name, line.value);
  if (!environment.leave_unset.empty()) out += "\n# Leave unset:\n";
  for (const EnvironmentLine& line : environment.leave_unset)
    out += fmt::format("# - {}: {}\n", line.name, line.reason);
  if (!environment.not_known.empty()) out += "\n# Not known here, and not guessed:\n";
  for (const std::string& line : environment.not_known) out += fmt::format("# - {}\n", line);
  return out;
}

}  // namespace rocetune::diagnose
