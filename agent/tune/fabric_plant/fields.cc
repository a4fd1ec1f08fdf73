#include "agent/tune/fabric_plant/fields.h"

#include <algorithm>
#include <map>

#include "congestion/dcqcn/parameter_table.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::HostParameters;
using fabric::SwitchParameters;
using search::ChangeCost;

dcqcn::Parameters parameters_of(const HostParameters& host) {
  return {.rp = host.controller.dcqcn, .np = host.notification, .cp = {}};
}

HostField dcqcn_field(const dcqcn::Parameter& row) {
  return {.name = std::string(row.name),
          .meaning = std::string(row.meaning),
          .cost = ChangeCost::none,
          .text = [&row](const HostParameters& host) { return value_text(row, parameters_of(host)); },
          .copy =
              [&row](HostParameters& to, const HostParameters& from) {
                dcqcn::Parameters changed = parameters_of(to);
                row.write(changed, row.read(parameters_of(from)));
                to.controller.dcqcn = changed.rp;
                to.notification = changed.np;
              }};
}

// With the entries that either of them has.
std::string map_text_beside(const fabric::DscpMap& map, const fabric::DscpMap& other) {
  std::vector<Dscp> named;
  for (int dscp = 0; dscp < Dscp::kCount; ++dscp) {
    if (other[static_cast<std::size_t>(dscp)] != Priority(0)) named.emplace_back(dscp);
  }
  return map_text(map, named);
}

std::string ports_text(const SwitchParameters& at) {
  std::string out = map_text(at.priority_of);
  for (const auto& [port, map] : at.priority_of_port) {
    if (map != at.priority_of) out += fmt::format("; port {}: {}", port, map_text(map));
  }
  return out;
}

std::vector<HostField> make_host_fields() {
  using H = HostParameters;
  std::vector<HostField> out{
      {"priority_of_dscp", "which priority the NIC gives a DSCP", ChangeCost::none,
       [](const H& h) {
         return map_text(h.priority_of, {h.data_dscp, h.notification.cnp_dscp});
       },
       [](H& to, const H& from) { to.priority_of = from.priority_of; }},
      {"lossless", "the NIC's priorities with PFC", ChangeCost::bounces_link,
       [](const H& h) { return to_text(h.receiver.buffer.lossless); },
       [](H& to, const H& from) { to.receiver.buffer.lossless = from.receiver.buffer.lossless; }},
      {"ets", "how the NIC shares its link among classes", ChangeCost::none,
       [](const H& h) { return ets_text(h.ets, h.class_of); },
       [](H& to, const H& from) {
         to.ets = from.ets;
         to.class_of = from.class_of;
       }},
      {"dscp", "the DSCP of the data", ChangeCost::restarts_job,
       [](const H& h) { return to_text(h.data_dscp); },
       [](H& to, const H& from) { to.data_dscp = from.data_dscp; }},
      {"mtu", "the path MTU of its connections", ChangeCost::restarts_job,
       [](const H& h) { return fmt::format("{}", engine::bytes_of(h.mtu)); },
       [](H& to, const H& from) { to.mtu = from.mtu; }},
      {"controller", "its congestion control", ChangeCost::restarts_job,
       [](const H& h) { return std::string(to_text(h.controller.kind)); },
       [](H& to, const H& from) { to.controller.kind = from.controller.kind; }},
      {"storm_prevention", "after which time its NIC stops to hold the switch", ChangeCost::none,
       [](const H& h) { return to_text(h.receiver.storm_prevention); },
       [](H& to, const H& from) { to.receiver.storm_prevention = from.receiver.storm_prevention; }},
  };
  for (const dcqcn::Parameter& row : dcqcn::parameter_table()) {
    if (!row.name.starts_with("cp_") && row.name != "np_cnp_prio") out.push_back(dcqcn_field(row));
  }
  return out;
}

std::vector<SwitchField> make_switch_fields() {
  using S = SwitchParameters;
  return {
      {"priority_of_dscp", "which priority it gives a DSCP", ChangeCost::none, ports_text,
       [](S& to, const S& from) {
         to.priority_of = from.priority_of;
         to.priority_of_port = from.priority_of_port;
       },
       [](const S& s, const S& beside) {
         return s.priority_of == beside.priority_of ? ports_text(s)
                                                    : map_text_beside(s.priority_of, beside.priority_of);
       }},
      {"lossless", "its priorities with PFC", ChangeCost::none,
       [](const S& s) { return to_text(s.ingress.lossless); },
       [](S& to, const S& from) { to.ingress.lossless = from.ingress.lossless; }},
      {"marked", "its priorities with ECN", ChangeCost::none, [](const S& s) { return to_text(s.marked); },
       [](S& to, const S& from) { to.marked = from.marked; }},
  };
}

// `parts`: by number.
template <class Part>
std::vector<Deviation> deviations(const std::map<std::uint32_t, Part>& parts,
                                  const std::vector<Field<Part>>& fields, std::uint32_t count) {
  std::vector<Deviation> out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::vector<Deviation> groups;  // in the order of their first members
    for (std::uint32_t number = 0; number < count; ++number) {
      std::string text = fields[i].text(parts.at(number));
      auto group = std::ranges::find(groups, text, &Deviation::as_found);
      if (group == groups.end())
        group = groups.insert(groups.end(), {.field = i, .members = {}, .as_found = text, .usual = 0});
      group->members.push_back(number);
    }
    const auto usual =
        std::ranges::max_element(groups, {}, [](const Deviation& group) { return group.members.size(); });
    for (auto group = groups.begin(); group != groups.end(); ++group) {
      if (group == usual) continue;
      group->usual = usual->members.front();
      out.push_back(*group);
    }
  }
  return out;
}

// "0-3,7", each number with `prefix` in front.
std::string ranges_text(const std::vector<std::uint32_t>& members, std::string_view prefix,
                        std::string_view prefix_of_last) {
  std::string out;
  for (std::size_t i = 0; i < members.size();) {
    std::size_t last = i;
    while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
    out += fmt::format("{}{}{}", i == 0 ? "" : ",", i == 0 ? prefix : prefix_of_last, members[i]);
    if (last > i) out += fmt::format("-{}{}", prefix_of_last, members[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace

std::string ets_text(const EtsConfig& ets, const ClassOfPriority& class_of) {
  std::string out;
  for (std::size_t i = 0; i < ets.classes.size(); ++i) {
    if (!ets.classes[i].strict)
      out += fmt::format("{}{}={}%", out.empty() ? "" : ", ", i, ets.classes[i].share_percent);
  }
  if (out.empty()) out = "strict";
  for (int p = 0; p < Priority::kCount; ++p) {
    const TrafficClass tc = class_of[static_cast<std::size_t>(p)];
    if (tc.value() != p) out += fmt::format(", priority {} in class {}", p, tc.value());
  }
  return out;
}

DscpsInUse dscps_in_use(const fabric::Scenario& scenario) {
  DscpsInUse out;
  for (std::uint32_t id = 0; id < scenario.topology.end_hosts(); ++id) {
    const HostParameters& host = scenario.options.own_host.at(id);
    ++out.data[host.data_dscp];
    ++out.cnps[host.notification.cnp_dscp];
    if (host.ack_dscp) ++out.acks[*host.ack_dscp];
  }
  return out;
}

std::vector<Priority> data_priorities(const DscpsInUse& dscps, const SwitchParameters& at) {
  std::array<std::uint32_t, Priority::kCount> hosts_in{};
  for (const auto& [dscp, hosts] : dscps.data)
    hosts_in[fabric::index_of(at.priority_of[static_cast<std::size_t>(dscp.value())])] += hosts;
  std::vector<Priority> out;
  for (int p = 0; p < Priority::kCount; ++p) {
    if (hosts_in[static_cast<std::size_t>(p)] > 0) out.emplace_back(p);
  }
  std::ranges::stable_sort(out, std::greater<>(), [&](Priority p) { return hosts_in[fabric::index_of(p)]; });
  return out;
}

PrioritySet used_priorities(const DscpsInUse& dscps, const SwitchParameters& at) {
  PrioritySet out;
  for (const auto* of : {&dscps.data, &dscps.cnps, &dscps.acks}) {
    for (const auto& [dscp, hosts] : *of)
      out = out.with(at.priority_of[static_cast<std::size_t>(dscp.value())]);
  }
  return out;
}

const std::vector<HostField>& host_fields() {
  static const std::vector<HostField> kFields = make_host_fields();
  return kFields;
}

const std::vector<SwitchField>& switch_fields() {
  static const std::vector<SwitchField> kFields = make_switch_fields();
  return kFields;
}

const HostField& host_field(std::string_view name) {
  const auto found = std::ranges::find(host_fields(), name, &HostField::name);
  ROCETUNE_ASSERT(found != host_fields().end());
  return *found;
}

std::string map_text(const fabric::DscpMap& map, const std::vector<Dscp>& named) {
  std::string out;
  for (int dscp = 0; dscp < Dscp::kCount; ++dscp) {
    const Priority priority = map[static_cast<std::size_t>(dscp)];
    if (priority == Priority(0) && std::ranges::find(named, Dscp(dscp)) == named.end()) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", dscp, priority.value());
  }
  return out.empty() ? "all to 0" : out;
}

fabric::Scenario with_own_parts(fabric::Scenario scenario) {
  fabric::NetworkOptions& options = scenario.options;
  for (fabric::NodeId id = 0; id < scenario.topology.end_hosts(); ++id)
    options.own_host.try_emplace(id, options.host);
  for (std::uint32_t i = 0; i < scenario.topology.switches; ++i)
    options.own_switch.try_emplace(i, options.switches);
  return scenario;
}

bool Deviation::contains(std::uint32_t member) const { return std::ranges::binary_search(members, member); }

std::vector<Deviation> host_deviations(const fabric::Scenario& scenario) {
  return deviations(scenario.options.own_host, host_fields(), scenario.topology.end_hosts());
}

std::vector<Deviation> switch_deviations(const fabric::Scenario& scenario) {
  return deviations(scenario.options.own_switch, switch_fields(), scenario.topology.switches);
}

std::string hosts_text(const std::vector<std::uint32_t>& members) { return ranges_text(members, "h", "h"); }
std::string switches_text(const std::vector<std::uint32_t>& members) {
  return ranges_text(members, "switch", "");
}

}  // namespace rocetune::fabric_plant
