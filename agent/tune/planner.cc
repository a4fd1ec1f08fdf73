#include "agent/tune/planner.h"

#include <algorithm>
#include <set>

#include "agent/host/rdma_carrier.h"
#include "agent/tune/arrange.h"
#include "agent/tune/interruption.h"

namespace rocetune::tune {
namespace {

using host::PortRole;

bool is_bond_member(const host::Host& host, const std::string& port, std::string* bond_name = nullptr) {
  for (const host::Bond& bond : host.bonds) {
    if (std::find(bond.members.begin(), bond.members.end(), port) == bond.members.end()) continue;
    if (bond_name != nullptr) *bond_name = bond.name;
    return true;
  }
  return false;
}

// Knobs name their port; two ports of one name could be taken for each other.
bool is_unique(const host::Host& host, const std::string& name) {
  return std::count_if(host.ports.begin(), host.ports.end(),
                       [&](const host::Port& port) { return port.name == name; }) == 1;
}

// Why a port is not planned for unless it is asked for by name; empty: it is.
std::string why_left_out(const host::Host& host, const host::Port& port, const host::NicTable& nics) {
  if (port.role != PortRole::physical && port.role != PortRole::uplink_representor) {
    return fmt::format("{} (HOST-1)", host::role_text(port.role));
  }
  if (!host::carries_rdma(host, port)) return port.rdma.error().why;
  if (port.nic == "unknown" || port.nic.empty()) {
    return fmt::format("driver {} is not known to configs/nics", port.driver);
  }
  if (nics.find(port.nic) == nullptr) {
    return fmt::format("its kind of NIC, {}, is not known to configs/nics", port.nic);
  }
  const host::Port* holder = host::rdma_holder(host, port);
  if (holder == nullptr) {
    return fmt::format("whether it has an RDMA device is not known: {}", port.rdma.error().why);
  }
  if (!is_unique(host, port.name)) return "another port in another network namespace has the same name";
  if (holder->rdma->link_layer == host::LinkLayer::infiniband) return "its link is InfiniBand (NET-3)";
  return "";
}

Expected<std::vector<std::string>> asked_ports(const host::Host& host,
                                               const std::vector<std::string>& names) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const std::string& name : names) {
    const auto bond = std::find_if(host.bonds.begin(), host.bonds.end(),
                                   [&](const host::Bond& candidate) { return candidate.name == name; });
    if (bond != host.bonds.end()) {
      for (const std::string& member : bond->members) add(member);
      continue;
    }
    if (host.find_port(name) == nullptr) {
      std::vector<std::string> known;
      std::string allowed;
      for (const host::Port& port : host.ports) {
        known.push_back(port.name);
        allowed += (allowed.empty() ? "" : ", ") + port.name;
      }
      const std::string nearest = nearest_name(name, known);
      return fail(ErrorKind::bad_input, "--port: found {}, allowed: {}{}", name,
                  allowed.empty() ? "nothing: no NIC is visible here" : allowed,
                  nearest.empty() ? "" : "; did you mean " + nearest + "?");
    }
    if (!is_unique(host, name)) {
      return fail(ErrorKind::bad_input,
                  "--port: {} is the name of ports in several network namespaces: rename one", name);
    }
    add(name);
  }
  return out;
}

// The MTU of a bond member is its bond's: the kernel hands it down.
void want_mtu(const host::Host& host, const host::Port& port, const Profile& profile,
              const host::NicTable& nics, std::vector<Change>& changes, std::vector<std::string>& remarks) {
  if (!profile.mtu) return;
  std::string owner = port.name;
  is_bond_member(host, port.name, &owner);
  const host::Port* target = host.find_port(owner);
  if (target == nullptr) target = &port;
  const host::Knob knob{target->name, host::KnobKind::mtu, ""};
  if (std::any_of(changes.begin(), changes.end(), [&](const Change& change) { return change.knob == knob; }))
    return;
  Bytes want = *profile.mtu;
  const auto& limit = port.max_mtu;
  if (limit && *limit < want) {
    remarks.push_back(fmt::format("{}: the NIC's largest MTU is {} B, less than the profile's {} B",
                                  port.name, limit->count(), want.count()));
    want = *limit;
  }
  const bool suffices = target->mtu >= want;
  Change change{knob,
                host::KnobValue(target->mtu.count()),
                host::KnobValue(std::max(target->mtu, want).count()),
                Revert::exact,
                "MTU-1",
                "RDMA packets of 4096 B need an MTU of 4200 B or more",
                ""};
  annotate(change, nics.named(target->nic));
  changes.push_back(std::move(change));
  if (suffices) return;
  for (const std::string& upper : target->uppers) {
    remarks.push_back(fmt::format("{} on top of {} keeps its own MTU", upper, target->name));
  }
}

void add_expectations(const host::Port& port, const Profile& profile, const host::NicRow& traits,
                      Plan& plan) {
  const auto minimum = lossless_buffer_for(port, profile, traits);
  if (!minimum || !port.dcb.buffers || profile.buffers == BufferPolicy::keep) return;
  for (const Priority p : profile.lossless().members()) plan.expectations.push_back({port.name, p, *minimum});
}

// The bonds on which the RDMA devices of these ports hang.
std::vector<const host::Port*> device_bonds(const host::Host& host, const std::vector<std::string>& names) {
  std::vector<const host::Port*> out;
  for (const std::string& name : names) {
    const host::Port* holder = host::rdma_holder(host, *host.find_port(name));
    if (holder == nullptr || holder->role != PortRole::bond) continue;
    if (std::find(out.begin(), out.end(), holder) == out.end()) out.push_back(holder);
  }
  return out;
}

// A host of a file may carry the name of a row that this version, or this --config-dir, does not have.
Expected<> expect_known_nics(const host::Host& host, const std::vector<std::string>& names,
                             const host::NicTable& nics) {
  std::vector<std::string> involved = names;
  for (const host::Bond& bond : host.bonds) {
    for (const std::string& member : bond.members) {
      const bool touched = std::find(names.begin(), names.end(), member) != names.end();
      if (touched && host.find_port(bond.name) != nullptr) add_unique(involved, bond.name);
    }
  }
  for (const std::string& name : involved) {
    const std::string& nic = host.find_port(name)->nic;
    if (nics.find(nic) != nullptr) continue;
    std::vector<std::string> known;
    for (const host::NicRow& row : nics.rows()) known.push_back(row.name);
    const std::string nearest = nearest_name(nic, known);
    return fail(ErrorKind::bad_input, "{}.nic: found \"{}\", allowed: a row of configs/nics: {}{}", name, nic,
                joined(known), nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  return {};
}

// Ports whose driver may overwrite ETS and PFC when it gets the new app table: they are written again, also
// if they are as wanted before.
std::set<std::string> ports_whose_tables_are_reset(const host::Host& host, const host::NicTable& nics,
                                                   const std::vector<Change>& changes) {
  std::set<std::string> out;
  for (const Change& change : changes) {
    const bool app = change.knob.kind == host::KnobKind::app_table && change.before != change.after;
    const host::Port* port = app ? host.find_port(change.knob.port) : nullptr;
    if (port != nullptr && nics.named(port->nic).dcb.dscp_trust_resets_tables) out.insert(port->name);
  }
  return out;
}

void add_gid_remark(const host::Port& port, std::vector<std::string>& remarks) {
  if (!port.rdma || port.rdma->link_layer != host::LinkLayer::ethernet) return;
  const bool has_v2 = std::any_of(port.rdma->gids.begin(), port.rdma->gids.end(),
                                  [](const host::Gid& gid) { return gid.type == host::GidType::roce_v2; });
  if (!has_v2)
    remarks.push_back(fmt::format("{} has no RoCE v2 GID: give it an IP address (GID-1)", port.name));
}

}  // namespace

Expected<std::vector<std::string>> chosen_ports(const host::Host& host, const std::vector<std::string>& names,
                                                const host::NicTable& nics,
                                                std::vector<std::string>& remarks) {
  if (!names.empty()) return asked_ports(host, names);
  std::vector<std::string> out;
  for (const host::Port& port : host.ports) {
    if (port.role == PortRole::bond) continue;  // its members stand for it
    const std::string why = why_left_out(host, port, nics);
    if (why.empty()) {
      out.push_back(port.name);
    } else {
      remarks.push_back(fmt::format("{} is left out: {}", port.name, why));
    }
  }
  if (out.empty()) {
    std::string why;
    for (const std::string& remark : remarks) why += "; " + remark;
    return fail(ErrorKind::absent, "no RoCE port to plan for on {}{}", host.name, why);
  }
  return out;
}

Expected<Plan> make_plan(const host::Host& host, const Profile& profile, const host::NicTable& nics,
                         const std::vector<std::string>& ports, std::int64_t now_unix_ns) {
  Plan plan;
  plan.host = host.name;
  plan.profile = profile.name;
  plan.made_at_unix_ns = now_unix_ns;
  const auto names = chosen_ports(host, ports, nics, plan.remarks);
  if (!names) return tl::unexpected(names.error());
  if (auto status = expect_known_nics(host, *names, nics); !status) return tl::unexpected(status.error());
  std::vector<Change> changes;
  for (const std::string& name : *names) {
    const host::Port& port = *host.find_port(name);
    const host::NicRow& traits = nics.named(port.nic);
    for (Change& change : desired_changes(host, port, profile, traits, plan.remarks)) {
      changes.push_back(std::move(change));
    }
    want_mtu(host, port, profile, nics, changes, plan.remarks);
    add_expectations(port, profile, traits, plan);
    add_gid_remark(port, plan.remarks);
  }
  for (const host::Port* bond : device_bonds(host, *names)) {
    for (Change& change : desired_bond_changes(host, *bond, profile, nics.named(bond->nic), plan.remarks)) {
      changes.push_back(std::move(change));
    }
    add_gid_remark(*bond, plan.remarks);
  }
  const std::set<std::string> reset = ports_whose_tables_are_reset(host, nics, changes);
  const auto kept = std::stable_partition(changes.begin(), changes.end(), [&](const Change& change) {
    const bool is_table = change.knob.kind == host::KnobKind::ets || change.knob.kind == host::KnobKind::pfc;
    const bool again = is_table && reset.contains(change.knob.port);
    return !change.before || *change.before != change.after || again;
  });
  for (auto change = kept; change != changes.end(); ++change) {
    plan.kept.push_back({change->knob, change->after});
  }
  changes.erase(kept, changes.end());
  plan.steps = arrange(std::move(changes), host, nics);
  for (const std::string& line : profile.notes) plan.remarks.push_back("besides: " + line);
  plan.ports = *names;
  plan.facts = facts_of(host, plan.bound_ports(host));
  plan.facts_sha256 = sha256_of(plan.facts);
  return plan;
}

}  // namespace rocetune::tune
