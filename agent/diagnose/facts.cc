#include "agent/diagnose/facts.h"

#include <algorithm>

namespace rocetune::diagnose {

std::optional<std::string> host_without_state(const std::string& name) {
  const auto open = name.rfind('(');
  if (open == std::string::npos || !name.ends_with(')')) return std::nullopt;
  std::string out = name.substr(0, open);
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

void append(std::vector<Evidence>& into, std::vector<Evidence> more) {
  for (Evidence& one : more) into.push_back(std::move(one));
}
namespace {

// "2.00 s"; of a virtual fabric often less: "0.3 ms".
std::string span_text(Duration span) {
  return span < milliseconds(100) ? fmt::format("{:.3g} ms", span.seconds() * 1e3)
                                  : fmt::format("{:.2f} s", span.seconds());
}

}  // namespace

Evidence counter(const counters::PortDelta& delta, std::string_view name, std::optional<Priority> priority) {
  const counters::CounterId id{std::string(name), priority};
  Evidence out;
  out.name = priority ? fmt::format("{} of priority {}", name, priority->value()) : std::string(name);
  if (name.ends_with("_us")) out.unit = "us";
  if (name.ends_with("_percent")) out.unit = "%";
  if (const auto level = delta.levels.find(id); level != delta.levels.end()) {
    out.value = fmt::format("{}", level->second);
    out.source = "counters, latest value";
    return out;
  }
  const auto increment = delta.increment(name, priority);
  ROCETUNE_ASSERT(increment.has_value());  // a counter that is not known is no evidence
  out.value = fmt::format("{}", *increment);
  const auto source = delta.sources.find(id.name);
  out.source =
      fmt::format("{} counters over {}", source == delta.sources.end() ? "port" : enum_name(source->second),
                  span_text(delta.elapsed_of(name)));
  return out;
}

std::vector<Evidence> counters_seen(const counters::PortDelta& delta,
                                    const std::vector<std::string_view>& names,
                                    std::optional<Priority> priority) {
  std::vector<Evidence> out;
  for (const std::string_view name : names) {
    const counters::CounterId id{std::string(name), priority};
    if (delta.levels.contains(id) || delta.increment(name, priority))
      out.push_back(counter(delta, name, priority));
  }
  return out;
}

std::optional<std::uint64_t> Needs::operator()(const counters::PortDelta& delta, std::string_view name,
                                               std::optional<Priority> priority) {
  if (const auto known = delta.increment(name, priority)) return known;
  const auto why = delta.why_absent(name, priority);
  note(fmt::format("{}: {}", to_text(counters::CounterId{std::string(name), priority}),
                   why ? why->why : "a level"));
  return std::nullopt;
}

Fix change_settings(const PortFacts& facts, std::string text, std::vector<Wanted> wanted) {
  Fix fix{std::move(text), {}, {}};
  for (Wanted& one : wanted) {
    auto before = host::value_of(facts.host, one.knob);
    if (!before) continue;
    for (std::string& line : host::equivalent_commands(facts.port, one.knob, *before, one.value)) {
      fix.commands.push_back(std::move(line));
    }
    fix.changes.push_back({std::move(one.knob), std::move(*before), std::move(one.value)});
  }
  return fix;
}

std::vector<Wanted> set_pfc(const PortFacts& facts, PrioritySet enabled) {
  if (!facts.port.dcb.pfc) return {};
  return {{{facts.port.name, host::KnobKind::pfc, ""}, host::PfcSetting{enabled, facts.port.dcb.pfc->delay}}};
}

std::vector<Wanted> set_global_pause(const PortFacts& facts, bool on) {
  if (!facts.port.pause) return {};
  return {{{facts.port.name, host::KnobKind::global_pause, ""},
           host::GlobalPause{facts.port.pause->autonegotiate, on, on}}};
}

std::vector<Wanted> map_dscps(const PortFacts& facts, const std::vector<std::pair<Dscp, Priority>>& entries) {
  if (!facts.port.dcb.app) return {};
  std::vector<host::AppEntry> table = *facts.port.dcb.app;
  for (const auto& [dscp, priority] : entries) {
    std::erase_if(table, [d = dscp.value()](const host::AppEntry& e) {
      return e.selector == host::AppSelector::dscp && e.protocol == d;
    });
    table.push_back({host::AppSelector::dscp, static_cast<std::uint16_t>(dscp.value()), priority});
  }
  std::sort(table.begin(), table.end());
  return {{{facts.port.name, host::KnobKind::app_table, ""}, std::move(table)}};
}

std::vector<Wanted> set_parameter(const PortFacts& facts, const std::string& name, std::int64_t value) {
  if (!facts.port.cc_params || !facts.port.cc_params->contains(name)) return {};
  if (facts.nic == nullptr || facts.nic->row.cc.interface == host::CcInterface::none) return {};
  return {{{facts.port.name, host::KnobKind::cc_param, name}, value}};
}

std::vector<Wanted> join(std::vector<Wanted> first, std::vector<Wanted> second) {
  for (Wanted& one : second) first.push_back(std::move(one));
  return first;
}

}  // namespace rocetune::diagnose
