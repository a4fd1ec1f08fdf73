// Single switches and hosts that are not like the others, and what happens in the course of a run.
#include <fmt/core.h>

#include <algorithm>

#include "dataplane/fabric/scenario_links.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

enum class Happening : std::uint8_t { link_down, link_up, link_rate, link_loss, receive_rate, classes };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Happening, P{E::link_down, "link_down"}, P{E::link_up, "link_up"},
              P{E::link_rate, "link_rate"}, P{E::link_loss, "link_loss"}, P{E::receive_rate, "receive_rate"},
              P{E::classes, "classes"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

// link = ["switch 0", "switch 4"]: the first one between them, or the `parallel`-th.
std::optional<std::size_t> read_link(TableReader& t, const Topology& topology) {
  std::vector<std::string> names;
  std::uint32_t parallel = 0;
  t.optional("parallel", parallel);
  if (!t.required("link", names)) return std::nullopt;
  std::vector<NodeId> ends;
  for (const std::string& name : names) {
    const auto node = parse_node(name, topology);
    if (!node) {
      t.issue("link", "\"" + name + "\"", node.error().allowed);
      return std::nullopt;
    }
    ends.push_back(*node);
  }
  if (ends.size() == 2) {
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const LinkSpec& link = topology.links[i];
      const bool joins = (link.a == ends[0] && link.b == ends[1]) || (link.a == ends[1] && link.b == ends[0]);
      if (joins && parallel-- == 0) return i;
    }
  }
  t.reject("link", "two neighbours, such as [\"host 0\", \"switch 0\"]");
  return std::nullopt;
}

void set_entry(DscpMap& map, const std::pair<Dscp, Priority>& entry) {
  map[static_cast<std::size_t>(entry.first.value())] = entry.second;
}

}  // namespace

std::vector<std::pair<Dscp, Priority>> read_map_entries(TableReader& t, std::string_view key) {
  std::vector<std::pair<Dscp, Priority>> out;
  std::map<std::string, Priority> entries;
  t.optional(key, entries);
  for (const auto& [text, priority] : entries) {
    if (const auto dscp = parse_dscp(text)) {
      out.emplace_back(*dscp, priority);
    } else {
      t.reject(key, "DSCPs as keys: " + dscp.error().allowed);
    }
  }
  return out;
}

DcqcnValues read_dcqcn_values(TableReader& t, const std::vector<std::string_view>& prefixes) {
  DcqcnValues out;
  for (const std::string& key : t.keys()) {
    const dcqcn::Parameter* parameter = dcqcn::find_parameter(key);
    const auto fits = [&](std::string_view prefix) { return key.starts_with(prefix); };
    if (parameter == nullptr || std::ranges::none_of(prefixes, fits)) continue;
    std::int64_t value = 0;
    const auto parse = [&](std::string_view text) {
      dcqcn::Parameters ignored;
      return dcqcn::parse_value(*parameter, text, ignored);
    };
    if (t.optional_text(key, value, parse)) out.emplace_back(parameter, value);
  }
  return out;
}

std::optional<EtsConfig> read_ets(TableReader& t) {
  std::array<int, TrafficClass::kCount> shares{};
  if (!t.optional("ets", shares, each(between(0, 100)))) return std::nullopt;
  EtsConfig out;
  int sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    out.classes[i] = {.strict = shares[i] == 0, .share_percent = shares[i]};
  }
  if (sum == 0 || sum == 100) return out;
  t.reject("ets", "shares that sum to 100");
  return std::nullopt;
}

std::optional<ClassOfPriority> read_traffic_classes(TableReader& t) {
  std::array<int, Priority::kCount> classes{};
  if (!t.optional("traffic_classes", classes, each(between(0, TrafficClass::kCount - 1))))
    return std::nullopt;
  ClassOfPriority out{};
  for (std::size_t p = 0; p < classes.size(); ++p) out[p] = TrafficClass(classes[p]);
  return out;
}

OwnClasses read_own_classes(TableReader& t) {
  OwnClasses out;
  out.priority_of = read_map_entries(t, "priority_of_dscp");
  t.optional("ports", out.ports);
  PrioritySet set;
  if (t.optional("lossless", set)) out.lossless = set;
  if (t.optional("marked", set)) out.marked = set;
  return out;
}

void OwnClasses::apply(SwitchParameters& parameters) const {
  for (const auto& entry : priority_of) {
    if (ports.empty()) set_entry(parameters.priority_of, entry);
    for (const std::uint16_t port : ports) {
      DscpMap& map = parameters.priority_of_port.try_emplace(port, parameters.priority_of).first->second;
      set_entry(map, entry);
    }
  }
  if (lossless) parameters.ingress.lossless = *lossless;
  if (marked) parameters.marked = *marked;
}

void OwnParts::read_switches(TableReader& t, const Topology& topology) {
  OwnSwitch own;
  if (topology.switches == 0) return t.ignore("switches");
  t.required("switches", own.switches, each(between(0U, topology.switches - 1)));
  own.classes = read_own_classes(t);
  switches_.push_back(std::move(own));
}

void OwnParts::read_hosts(TableReader& t, const Topology& topology) {
  OwnHost own;
  if (topology.hosts == 0) return t.ignore("hosts");
  if (t.required("hosts", own.hosts) && own.hosts.largest() >= topology.hosts)
    t.reject("hosts", fmt::format("hosts below {}", topology.hosts));
  BitRate rate;
  if (t.optional("receive_rate", rate, a_rate())) own.receive_rate = rate;
  Duration limit;
  if (t.optional("storm_prevention", limit, between(nanoseconds(1), seconds(3600))))
    own.storm_prevention = limit;
  ControllerChoice::Kind kind{};
  if (t.optional_text("controller", kind, parse_controller_kind)) own.controller = kind;
  if (std::uint32_t mtu = 0; t.optional("mtu", mtu, one_of(kPathMtus)))
    own.mtu = static_cast<engine::PathMtu>(mtu);
  if (Dscp dscp; t.optional("dscp", dscp)) own.dscp = dscp;
  if (PrioritySet lossless; t.optional("lossless", lossless)) own.lossless = lossless;
  own.priority_of = read_map_entries(t, "priority_of_dscp");
  own.ets = read_ets(t);
  own.class_of = read_traffic_classes(t);
  own.dcqcn = read_dcqcn_values(t, {"rp_", "np_"});
  hosts_.push_back(std::move(own));
}

void OwnParts::OwnHost::apply(HostParameters& host) const {
  if (receive_rate) host.receiver.rate = *receive_rate;
  if (storm_prevention) host.receiver.storm_prevention = *storm_prevention;
  if (controller) host.controller.kind = *controller;
  if (mtu) host.mtu = *mtu;
  if (dscp) host.data_dscp = *dscp;
  if (lossless) host.receiver.buffer.lossless = *lossless;
  for (const auto& entry : priority_of) set_entry(host.priority_of, entry);
  if (ets) host.ets = *ets;
  if (class_of) host.class_of = *class_of;
  dcqcn::Parameters parameters{.rp = host.controller.dcqcn, .np = host.notification, .cp = {}};
  for (const auto& [parameter, value] : dcqcn) parameter->write(parameters, value);
  host.controller.dcqcn = parameters.rp;
  host.notification = parameters.np;
}

void OwnParts::read_event(TableReader& t, const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  Event event;
  Fault& fault = event.fault;
  Duration at;
  Happening what{};
  t.required("at", at, between(Duration(0), scenario.limit));
  if (!t.required("what", what)) return;
  fault.at = Instant(at);
  if (what != Happening::receive_rate && what != Happening::classes) {
    const auto link = read_link(t, topology);
    if (!link) return;
    fault.link = *link;
  }
  switch (what) {
    case Happening::link_down:
      fault.kind = Fault::Kind::link_down;
      break;
    case Happening::link_up:
      fault.kind = Fault::Kind::link_up;
      break;
    case Happening::link_rate:
      fault.kind = Fault::Kind::link_rate;
      if (!t.required("rate", fault.rate, a_rate())) return;
      break;
    case Happening::link_loss:
      fault.kind = Fault::Kind::link_loss;
      if (!t.required("loss", fault.loss, between(Ratio(0), Ratio::one()))) return;
      break;
    case Happening::receive_rate:
      fault.kind = Fault::Kind::receive_rate;
      if (topology.hosts == 0 || !t.required("host", fault.host, between(0U, topology.hosts - 1))) return;
      t.optional("rate", fault.rate, a_rate());
      break;
    case Happening::classes:
      fault.kind = Fault::Kind::switch_classes;
      if (topology.switches == 0 ||
          !t.required("switch", fault.switch_index, between(0U, topology.switches - 1)))
        return;
      event.classes = read_own_classes(t);
      break;
  }
  events_.push_back(std::move(event));
}

void OwnParts::apply(NetworkOptions& options) const {
  for (const OwnSwitch& own : switches_) {
    for (const std::uint32_t index : own.switches)
      own.classes.apply(options.own_switch.try_emplace(index, options.switches).first->second);
  }
  for (const OwnHost& own : hosts_) {
    for (std::uint32_t i = 0; i < own.hosts.size(); ++i)
      own.apply(options.own_host.try_emplace(own.hosts[i], options.host).first->second);
  }
  for (const Event& event : events_) {
    Fault fault = event.fault;
    if (event.classes) {
      const auto own = options.own_switch.find(fault.switch_index);
      fault.classes = own == options.own_switch.end() ? options.switches : own->second;
      event.classes->apply(fault.classes);
    }
    options.faults.push_back(std::move(fault));
  }
}

}  // namespace rocetune::fabric
