// Which DSCP leads where, which priorities are lossless, which are marked.
#include <set>

#include "agent/tune/fabric_plant/knobs.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::DscpMap;
using fabric::HostParameters;
using fabric::Scenario;
using fabric::SwitchParameters;

constexpr Priority kCnpPriority{6};

Priority& entry(DscpMap& map, Dscp dscp) { return map[static_cast<std::size_t>(dscp.value())]; }
Priority entry(const DscpMap& map, Dscp dscp) { return map[static_cast<std::size_t>(dscp.value())]; }

// What of a fabric the choices of this file need, after the maker is gone.
struct Classes {
  std::uint32_t host = 0;  // has its map as most do
  std::uint32_t lossless_host = 0;
  std::uint32_t switch_index = 0;
  std::uint32_t lossless_switch = 0;
  std::uint32_t marked_switch = 0;
  std::vector<std::uint32_t> hosts, lossless_hosts, switches, lossless_switches, marked_switches;
  Dscp data, cnp;

  const HostParameters& host_of(const Scenario& s) const { return s.options.own_host.at(host); }
  const SwitchParameters& switch_of(const Scenario& s) const { return s.options.own_switch.at(switch_index); }
};

Classes classes_of(const KnobTableMaker& maker) {
  Classes out;
  out.hosts = maker.usual_hosts("priority_of_dscp");
  out.lossless_hosts = maker.usual_hosts("lossless");
  out.switches = maker.usual_switches("priority_of_dscp");
  out.lossless_switches = maker.usual_switches("lossless");
  out.marked_switches = maker.usual_switches("marked");
  out.host = out.hosts.front();
  out.lossless_host = out.lossless_hosts.front();
  out.switch_index = out.switches.front();
  out.lossless_switch = out.lossless_switches.front();
  out.marked_switch = out.marked_switches.front();
  out.data = maker.usual_host("dscp").data_dscp;
  out.cnp = maker.usual_host("np_cnp_dscp").notification.cnp_dscp;
  return out;
}

void map_at_switches(Scenario& s, const Classes& c, Dscp dscp, Priority to) {
  const auto write = [&](SwitchParameters& at) {
    const Priority before = entry(at.priority_of, dscp);
    for (auto& [port, map] : at.priority_of_port) {
      if (entry(map, dscp) == before) entry(map, dscp) = to;
    }
    entry(at.priority_of, dscp) = to;
  };
  for (fabric::Fault& fault : s.options.faults) {
    if (fault.kind != fabric::Fault::Kind::switch_classes) continue;
    const SwitchParameters& own = s.options.own_switch.at(fault.switch_index);
    if (entry(fault.classes.priority_of, dscp) == entry(own.priority_of, dscp)) write(fault.classes);
  }
  write(s.options.switches);
  for (const std::uint32_t index : c.switches) write(s.options.own_switch.at(index));
}

void map_at_hosts(Scenario& s, const Classes& c, Dscp dscp, Priority to) {
  entry(s.options.host.priority_of, dscp) = to;
  for (const std::uint32_t id : c.hosts) entry(s.options.own_host.at(id).priority_of, dscp) = to;
}

void set_lossless(Scenario& s, const Classes& c, PrioritySet set) {
  s.options.host.receiver.buffer.lossless = set;
  for (const std::uint32_t id : c.lossless_hosts) s.options.own_host.at(id).receiver.buffer.lossless = set;
  for (fabric::Fault& fault : s.options.faults) {
    if (fault.kind == fabric::Fault::Kind::switch_classes &&
        fault.classes.ingress.lossless == s.options.own_switch.at(fault.switch_index).ingress.lossless)
      fault.classes.ingress.lossless = set;
  }
  s.options.switches.ingress.lossless = set;
  for (const std::uint32_t index : c.lossless_switches) s.options.own_switch.at(index).ingress.lossless = set;
}

void set_marked(Scenario& s, const Classes& c, PrioritySet set) {
  s.options.switches.marked = set;
  for (const std::uint32_t index : c.marked_switches) s.options.own_switch.at(index).marked = set;
  for (fabric::Fault& fault : s.options.faults) {
    if (fault.kind == fabric::Fault::Kind::switch_classes) fault.classes.marked = set;
  }
}

std::string lossless_text(const Scenario& s, const Classes& c) {
  const PrioritySet hosts = s.options.own_host.at(c.lossless_host).receiver.buffer.lossless;
  const PrioritySet switches = s.options.own_switch.at(c.lossless_switch).ingress.lossless;
  if (hosts == switches) return to_text(hosts);
  return fmt::format("hosts {}, switches {}", to_text(hosts), to_text(switches));
}

void add_lossless(KnobTableMaker& maker, const Classes& c) {
  const Scenario& s = maker.scenario();
  const Priority data = entry(c.switch_of(s).priority_of, c.data);
  std::vector<KnobTableMaker::Choice> choices;
  const std::set<PrioritySet> sets{s.options.own_host.at(c.lossless_host).receiver.buffer.lossless,
                                   s.options.own_switch.at(c.lossless_switch).ingress.lossless,
                                   PrioritySet::of(data), PrioritySet()};
  for (const PrioritySet set : sets)
    choices.push_back({to_text(set), [c, set](Scenario& to) { set_lossless(to, c, set); }});
  maker.add_choice(
      {.name = "classes.lossless",
       .meaning = "the priorities with PFC, of hosts and switches; {} is lossy",
       .cost = search::ChangeCost::bounces_link,
       .standard_origin = "one data class: Guo et al., SIGCOMM 2016"},
      Place::classes, std::move(choices), [c](const Scenario& of) { return lossless_text(of, c); },
      "there is nothing else it could be");
}

// Where hosts, or switches, put the data: to any priority that somebody means for it.
void add_data_priority(KnobTableMaker& maker, const Classes& c) {
  const Scenario& s = maker.scenario();
  const Priority at_hosts = entry(c.host_of(s).priority_of, c.data);
  const Priority at_switches = entry(c.switch_of(s).priority_of, c.data);
  std::set<Priority> wanted{at_hosts, at_switches};
  for (const PrioritySet set : {s.options.own_host.at(c.lossless_host).receiver.buffer.lossless,
                                s.options.own_switch.at(c.lossless_switch).ingress.lossless}) {
    for (const Priority p : set.members()) wanted.insert(p);
  }
  std::vector<KnobTableMaker::Choice> of_hosts, of_switches;
  for (const Priority p : wanted) {
    of_hosts.push_back({to_text(p), [c, p](Scenario& to) { map_at_hosts(to, c, c.data, p); }});
    of_switches.push_back({to_text(p), [c, p](Scenario& to) { map_at_switches(to, c, c.data, p); }});
  }
  const std::string why_none = "hosts and switches agree on the class of the data";
  const std::string meaning = fmt::format("the priority of the data, DSCP {}", c.data.value());
  maker.add_choice(
      {.name = "hosts.data_priority", .meaning = meaning}, Place::hosts, std::move(of_hosts),
      [c](const Scenario& of) { return to_text(entry(c.host_of(of).priority_of, c.data)); }, why_none);
  maker.add_choice(
      {.name = "switches.data_priority", .meaning = meaning}, Place::switches, std::move(of_switches),
      [c](const Scenario& of) { return to_text(entry(c.switch_of(of).priority_of, c.data)); }, why_none);
}

void add_cnp_priority(KnobTableMaker& maker, const Classes& c) {
  const std::string meaning = fmt::format("the priority of CNPs, DSCP {}", c.cnp.value());
  const std::string why_none = fmt::format("CNPs have priority {} already", kCnpPriority.value());
  const std::string standard = "mlx5 and Cumulus defaults: 6, which has no PFC";
  maker.add_choice(
      {.name = "hosts.cnp_priority", .meaning = meaning, .standard_origin = standard}, Place::hosts,
      {{to_text(kCnpPriority), [c](Scenario& to) { map_at_hosts(to, c, c.cnp, kCnpPriority); }}},
      [c](const Scenario& of) { return to_text(entry(c.host_of(of).priority_of, c.cnp)); }, why_none);
  maker.add_choice(
      {.name = "switches.cnp_priority", .meaning = meaning, .standard_origin = standard}, Place::switches,
      {{to_text(kCnpPriority), [c](Scenario& to) { map_at_switches(to, c, c.cnp, kCnpPriority); }}},
      [c](const Scenario& of) { return to_text(entry(c.switch_of(of).priority_of, c.cnp)); }, why_none);
}

void add_marked(KnobTableMaker& maker, const Classes& c) {
  const Scenario& s = maker.scenario();
  std::set<PrioritySet> sets;
  for (const Priority p :
       {entry(c.host_of(s).priority_of, c.data), entry(c.switch_of(s).priority_of, c.data)})
    sets.insert(PrioritySet::of(p));
  std::vector<KnobTableMaker::Choice> choices;
  for (const PrioritySet set : sets)
    choices.push_back({to_text(set), [c, set](Scenario& to) { set_marked(to, c, set); }});
  maker.add_choice(
      {.name = "switches.marked", .meaning = "the priorities that switches mark with ECN"}, Place::switches,
      std::move(choices),
      [c](const Scenario& of) { return to_text(of.options.own_switch.at(c.marked_switch).marked); },
      "the class of the data is marked, and no other");
}

}  // namespace

void add_class_knobs(KnobTableMaker& maker) {
  const Classes classes = classes_of(maker);
  add_lossless(maker, classes);
  add_data_priority(maker, classes);
  add_cnp_priority(maker, classes);
  add_marked(maker, classes);
}

}  // namespace rocetune::fabric_plant
