// Sources: sonic-utilities Command-Reference.md (ecnconfig, pfcwd) and sonic-buildimage qos_config.j2; NVUE
// command reference, Quality of Service; Arista EOS user manual, Quality of Service.
#include "agent/tune/fabric_plant/switch_names.h"

#include <algorithm>
#include <charconv>

#include "agent/tune/fabric_plant/advice.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::SwitchParameters;

void join(std::string& to, const std::string& more) { to += (to.empty() ? "" : "; ") + more; }

std::string list_text(PrioritySet set) {
  std::string out;
  for (const Priority p : set.members()) out += (out.empty() ? "" : ",") + std::to_string(p.value());
  return out;
}

void name_marking(SwitchNames& out, const SwitchParameters& at, std::string_view key) {
  const auto& curve = at.congestion_point.curve;
  const auto low = curve.minimum.count(), high = curve.maximum.count();
  const auto percent = static_cast<int>(std::lround(curve.probability.percent()));
  const std::string profile = "ecnconfig -p AZURE_LOSSLESS ";
  if (key == "kmin") out.sonic = profile + fmt::format("-gmin {}", low);
  if (key == "kmax") out.sonic = profile + fmt::format("-gmax {}", high);
  if (key == "pmax") out.sonic = profile + fmt::format("-gdrop {}", percent);
  for (const Priority p : at.marked.members()) {
    const std::string prefix =
        fmt::format("nv set qos congestion-control default-global traffic-class {} ", p.value());
    if (key == "kmin") join(out.nvue, prefix + fmt::format("min-threshold {}", low));
    if (key == "kmax") join(out.nvue, prefix + fmt::format("max-threshold {}", high));
    if (key == "pmax") join(out.nvue, prefix + fmt::format("probability {}", percent));
    // All three are one line.
    join(
        out.eos,
        fmt::format("uc-tx-queue {}: random-detect ecn minimum-threshold {} bytes maximum-threshold {} bytes "
                    "max-mark-probability {} weight 0",
                    p.value(), low, high, percent));
  }
}

void name_marked(SwitchNames& out, const SwitchParameters& at) {
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool marks = at.marked.contains(Priority(p));
    if (!marks && !at.ingress.lossless.contains(Priority(p))) continue;
    join(out.sonic, fmt::format("QUEUE|PORT|{} wred_profile {}", p, marks ? "AZURE_LOSSLESS" : "none"));
    join(out.nvue, fmt::format("nv set qos congestion-control default-global traffic-class {} ecn {}", p,
                               marks ? "enable" : "disable"));
    join(out.eos, fmt::format("uc-tx-queue {}: {}", p, marks ? "random-detect ecn" : "no random-detect ecn"));
  }
}

void name_map(SwitchNames& out, const SwitchParameters& at, const std::vector<Dscp>& dscps) {
  for (const Dscp dscp : dscps) {
    const int priority = at.priority_of[static_cast<std::size_t>(dscp.value())].value();
    join(out.sonic, fmt::format("DSCP_TO_TC_MAP|AZURE \"{}\": \"{}\"", dscp.value(), priority));
    join(out.nvue,
         fmt::format("nv set qos mapping default-global dscp {} switch-priority {}", dscp.value(), priority));
    join(out.eos, fmt::format("qos map dscp {} to traffic-class {}", dscp.value(), priority));
  }
}

void name_lossless(SwitchNames& out, PrioritySet lossless) {
  out.sonic = fmt::format("PORT_QOS_MAP|PORT pfc_enable \"{}\"", list_text(lossless));
  if (lossless.is_empty()) {
    out.nvue = "nv unset qos pfc default-global";
    out.eos = "no priority-flow-control";
    return;
  }
  out.eos = "priority-flow-control on";
  for (const Priority p : lossless.members()) {
    join(out.nvue, fmt::format("nv set qos pfc default-global switch-priority {}", p.value()));
    join(out.eos, fmt::format("priority-flow-control priority {} no-drop", p.value()));
  }
  out.nvue += "; tx enable; rx enable";
}

void name_watchdog(SwitchNames& out, const SwitchParameters& at) {
  if (!at.watchdog) {
    out.sonic = "pfcwd stop";
    out.nvue = "nv set interface PORT qos pfc-watchdog state disable";
    out.eos = "no priority-flow-control pause watchdog default timeout";
    return;
  }
  const auto ms = at.watchdog->detection / milliseconds(1);
  out.sonic = fmt::format("pfcwd start --action drop PORT {}", ms);
  // Two polls in a row.
  out.nvue = fmt::format("nv set qos pfc-watchdog polling-interval {}; robustness 2", ms / 2);
  out.eos = fmt::format("priority-flow-control pause watchdog default timeout {:g}",
                        at.watchdog->detection.seconds());
}

// Of the classes in use: those of data and CNPs, and whatever has a share.
void name_ets(SwitchNames& out, const SwitchParameters& at, PrioritySet used) {
  for (int p = 0; p < Priority::kCount; ++p) {
    const EtsClass& of = at.ets.classes[static_cast<std::size_t>(p)];
    if (of.strict && !used.contains(Priority(p))) continue;
    const std::string nvue =
        fmt::format("nv set qos egress-scheduler default-global traffic-class {} mode ", p);
    if (of.strict) {
      join(out.sonic, fmt::format("QUEUE|PORT|{} scheduler: SCHEDULER type STRICT", p));
      join(out.nvue, nvue + "strict");
      join(out.eos, fmt::format("uc-tx-queue {}: priority strict", p));
    } else {
      join(out.sonic,
           fmt::format("QUEUE|PORT|{} scheduler: SCHEDULER type DWRR weight {}", p, of.share_percent));
      join(out.nvue, nvue + fmt::format("dwrr; bw-percent {}", of.share_percent));
      join(out.eos, fmt::format("uc-tx-queue {}: no priority; bandwidth percent {}", p, of.share_percent));
    }
  }
}

// The switch that a knob speaks of: the first of those it names, or one that has everything as most do.
std::uint32_t switch_of(const FabricPlant& plant, std::string_view before_dot) {
  std::uint32_t number = 0;
  constexpr std::string_view kOne = "switch";
  if (before_dot.starts_with(kOne)) {
    const auto read =
        std::from_chars(before_dot.data() + kOne.size(), before_dot.data() + before_dot.size(), number);
    if (read.ec == std::errc()) return number;
  }
  const auto deviations = switch_deviations(plant.scenario());
  const std::uint32_t count = plant.scenario().topology.switches;
  for (number = 0; number < count; ++number) {
    if (std::ranges::none_of(deviations, [&](const Deviation& d) { return d.contains(number); }))
      return number;
  }
  return 0;
}

}  // namespace

std::vector<SwitchNames> switch_names_of(const FabricPlant& plant, const search::Candidate& candidate) {
  std::vector<SwitchNames> out;
  fabric::Scenario after = plant.scenario();
  const auto changes = plant.space().difference(plant.space().start(), candidate);
  for (const search::Setting& change : changes) plant.knobs()[change.knob].write(after, change.value);
  const auto& hosts = after.options.own_host.begin()->second;
  const std::vector<Step> steps = steps_of(plant, candidate);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const FabricKnob& knob = plant.knobs()[changes[i].knob];
    if (knob.place != Place::switches && knob.place != Place::classes) continue;
    const std::string_view name = knob.knob.name;
    const std::string_view key = name.substr(name.find('.') + 1);
    const SwitchParameters& at =
        after.options.own_switch.at(switch_of(plant, name.substr(0, name.find('.'))));
    SwitchNames names{.knob = knob.knob.name, .where = steps[i].where, .value = steps[i].after};
    if (key == "kmin" || key == "kmax" || key == "pmax") name_marking(names, at, key);
    if (key == "marked") name_marked(names, at);
    if (key == "alpha_exponent")
      names.sonic =
          fmt::format("BUFFER_PROFILE|pg_lossless_* dynamic_th {}", at.ingress.lossless_pool.alpha_exponent);
    if (key == "headroom")
      names.sonic =
          fmt::format("BUFFER_PROFILE|pg_lossless_* xoff {}", at.ingress.lossless_pool.headroom.count());
    if (key == "watchdog") name_watchdog(names, at);
    if (key == "ets") name_ets(names, at, used_priorities(dscps_in_use(after), at));
    if (key == "data_priority") name_map(names, at, {hosts.data_dscp});
    if (key == "cnp_priority") name_map(names, at, {hosts.notification.cnp_dscp});
    if (key == "priority_of_dscp") name_map(names, at, {hosts.data_dscp, hosts.notification.cnp_dscp});
    if (key == "lossless") name_lossless(names, at.ingress.lossless);
    out.push_back(std::move(names));
  }
  return out;
}

}  // namespace rocetune::fabric_plant
