// What one port should show, knob by knob.
#include <algorithm>

#include "agent/tune/arrange.h"
#include "agent/tune/planner.h"
#include "congestion/headroom.h"

namespace rocetune::tune {
namespace {

using host::AppEntry;
using host::AppSelector;
using host::Knob;
using host::KnobKind;
using host::KnobValue;

// Collects the changes of one port.
class PortChanges {
 public:
  PortChanges(const host::Host& host, const host::Port& port, const host::NicRow& traits,
              std::vector<std::string>& remarks)
      : host_(host), port_(port), traits_(traits), remarks_(remarks) {}

  // The knob's value now; a remark and nothing if it is not shown.
  std::optional<KnobValue> now(const Knob& knob) {
    const auto value = host::value_of(host_, knob);
    if (value) return *value;
    remark(fmt::format("{} is left alone: {}", host::to_text(knob), value.error().why));
    return std::nullopt;
  }
  void want(const Knob& knob, const KnobValue& before, KnobValue after, std::string rule, std::string why) {
    Change change{knob, before, std::move(after), Revert::exact, std::move(rule), std::move(why), ""};
    annotate(change, traits_);
    changes_.push_back(std::move(change));
  }
  void add(Change change) {
    annotate(change, traits_);
    changes_.push_back(std::move(change));
  }
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  Knob knob(KnobKind kind, std::string parameter = "") const {
    return {port_.name, kind, std::move(parameter)};
  }
  std::vector<Change> take() { return std::move(changes_); }

 private:
  const host::Host& host_;
  const host::Port& port_;
  const host::NicRow& traits_;
  std::vector<std::string>& remarks_;
  std::vector<Change> changes_;
};

void want_dcbx(PortChanges& out, const Profile& profile, const host::NicRow& traits) {
  if (!profile.take_dcbx || !traits.dcb.dcbx_firmware_takes_over) return;
  const Knob knob = out.knob(KnobKind::dcbx_mode);
  const auto now = out.now(knob);
  if (!now) return;
  host::DcbxMode mode = std::get<host::DcbxMode>(*now);
  if (const std::string command = host::firmware_agent_off(traits.dcb, knob.port);
      mode.lld_managed && !command.empty()) {
    out.remark(
        fmt::format("{} is left alone: its firmware's agent owns DCB and the driver refuses every "
                    "write; first {}, then plan again",
                    host::to_text(knob), command));
    return;
  }
  // The version bits stay: on mlx5, giving DCBX back to firmware leaves exactly them.
  mode.host = true;
  mode.lld_managed = false;
  out.want(knob, *now, mode, "PFC-2",
           "firmware DCBX would overwrite these settings: the host has to own them");
}

void want_pause(PortChanges& out, const Profile& profile) {
  if (!profile.global_pause) return;
  const Knob knob = out.knob(KnobKind::global_pause);
  const auto now = out.now(knob);
  if (!now) return;
  host::GlobalPause pause = std::get<host::GlobalPause>(*now);
  pause.receive = pause.transmit = *profile.global_pause;
  out.want(knob, *now, pause, "PFC-1",
           *profile.global_pause ? "without PFC, link pause is what keeps the port from dropping"
                                 : "link pause stops every priority; with PFC on it has to be off");
}

std::vector<AppEntry> desired_app(const Profile& profile, const std::vector<AppEntry>& now) {
  const auto is_of_class = [&](const AppEntry& entry) {
    return std::any_of(profile.classes.begin(), profile.classes.end(), [&](const ClassSpec& spec) {
      return spec.priority == entry.priority ||
             std::any_of(spec.dscp.begin(), spec.dscp.end(),
                         [&](Dscp dscp) { return dscp.value() == entry.protocol; });
    });
  };
  std::vector<AppEntry> out;
  for (const AppEntry& entry : now) {
    const bool goes =
        entry.selector == AppSelector::dscp && (profile.trust == host::Trust::pcp || is_of_class(entry));
    if (!goes) out.push_back(entry);
  }
  for (const ClassSpec& spec : profile.classes) {
    for (const Dscp dscp : spec.dscp) {
      out.push_back({AppSelector::dscp, static_cast<std::uint16_t>(dscp.value()), spec.priority});
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void want_app(PortChanges& out, const Profile& profile) {
  const Knob knob = out.knob(KnobKind::app_table);
  const auto now = out.now(knob);
  if (!now) return;
  const auto& entries = std::get<std::vector<AppEntry>>(*now);
  const bool dscp = profile.trust == host::Trust::dscp;
  out.want(knob, *now, desired_app(profile, entries), dscp ? "MAP-2" : "MAP-1",
           dscp ? "each class is told by its DSCP, and only its own DSCP leads to its priority"
                : "classes are told by the VLAN tag: DSCP entries would switch the port to trust dscp");
}

void want_ets(PortChanges& out, const host::Port& port, const Profile& profile, const host::NicRow& traits) {
  const Knob knob = out.knob(KnobKind::ets);
  const auto now = out.now(knob);
  if (!now) return;
  host::EtsSetting ets = std::get<host::EtsSetting>(*now);
  // A driver whose DSCP trust gives each priority the class of its number.
  const bool fixed = traits.dcb.dscp_trust_resets_tables && profile.trust == host::Trust::dscp;
  const auto tc_of = [&](const ClassSpec& spec) {
    return fixed ? TrafficClass(spec.priority.value()) : spec.tc;
  };
  ets.tc_of_priority.fill(profile.default_tc);
  for (int p = 0; fixed && p < 8; ++p) ets.tc_of_priority[static_cast<std::size_t>(p)] = TrafficClass(p);
  ets.tsa.fill(host::Tsa::strict);
  ets.tx_share_percent.fill(0);
  const auto share = [&](TrafficClass tc, std::uint8_t percent) {
    ets.tsa[static_cast<std::size_t>(tc.value())] = host::Tsa::ets;
    ets.tx_share_percent[static_cast<std::size_t>(tc.value())] = percent;
  };
  share(fixed ? TrafficClass(0) : profile.default_tc, profile.default_share_percent);
  int highest = profile.default_tc.value();
  for (const ClassSpec& spec : profile.classes) {
    const TrafficClass tc = tc_of(spec);
    ets.tc_of_priority[static_cast<std::size_t>(spec.priority.value())] = tc;
    if (!spec.strict) share(tc, spec.share_percent);
    highest = std::max(highest, tc.value());
  }
  for (std::size_t tc = 0; tc < 8; ++tc) {
    if (ets.tsa[tc] != host::Tsa::ets) ets.rx_share_percent[tc] = 0;
  }
  if (highest >= port.dcb.ets->tc_count) {
    out.remark(fmt::format("{} is left alone: the profile uses traffic class {}, the NIC has {}",
                           host::to_text(knob), highest, port.dcb.ets->tc_count));
    return;
  }
  out.want(knob, *now, ets, "ETS-1",
           "each class has its own traffic class: CNP strict, RoCE and the rest shared");
}

// The cable's length as the driver takes it; nothing if the profile names none or the driver takes none.
std::optional<std::uint16_t> delay_for(const Profile& profile, const host::NicRow& traits) {
  if (!profile.cable || traits.dcb.pfc_delay_unit != host::DelayUnit::metres) return std::nullopt;
  const Metres cable = std::min(*profile.cable, Metres(traits.dcb.pfc_delay_max));
  const auto metres = static_cast<std::uint16_t>(cable.count());
  ROCETUNE_ASSERT(Metres(metres) == cable);
  return metres;
}

void want_pfc(PortChanges& out, const host::Port& port, const Profile& profile, const host::NicRow& traits) {
  const Knob knob = out.knob(KnobKind::pfc);
  const auto now = out.now(knob);
  if (!now) return;
  host::PfcSetting pfc = std::get<host::PfcSetting>(*now);
  pfc.enabled = profile.lossless();
  if (pfc.enabled.size() > port.dcb.pfc->capable) {
    out.remark(fmt::format("{} is left alone: the NIC can have {} lossless priorities", host::to_text(knob),
                           port.dcb.pfc->capable));
    return;
  }
  if (const auto delay = delay_for(profile, traits)) pfc.delay = *delay;
  out.want(knob, *now, pfc, "MAP-3",
           pfc.enabled.is_empty() ? "a lossy class map has no PFC"
                                  : "PFC on exactly the priorities of lossless classes");
}

// Every lossless priority has a buffer of its own that somebody or the driver arranged.
bool is_arranged(const host::PortBuffers& buffers, PrioritySet lossless) {
  for (const Priority p : lossless.members()) {
    for (int other = 0; other < 8; ++other) {
      if (lossless.contains(Priority(other))) continue;
      if (buffers.buffer_of_priority[static_cast<std::size_t>(other)] ==
          buffers.buffer_of_priority[static_cast<std::size_t>(p.value())]) {
        return false;
      }
    }
  }
  return true;
}

bool has_headroom(const host::PortBuffers& buffers, PrioritySet lossless, Bytes minimum) {
  for (const Priority p : lossless.members()) {
    const std::size_t buffer = buffers.buffer_of_priority[static_cast<std::size_t>(p.value())];
    if (buffer >= 8 || buffers.size[buffer] < minimum) return false;
  }
  return true;
}

void want_buffers(PortChanges& out, const host::Port& port, const Profile& profile,
                  const host::NicRow& traits) {
  const PrioritySet lossless = profile.lossless();
  if (profile.buffers == BufferPolicy::keep || lossless.is_empty() || !traits.dcb.has_buffers) return;
  const Knob knob = out.knob(KnobKind::buffers);
  const auto now = out.now(knob);
  if (!now) return;
  const auto minimum = lossless_buffer_for(port, profile, traits);
  if (!minimum) {
    out.remark(
        fmt::format("{} is left alone: without a link speed the headroom is not known", host::to_text(knob)));
    return;
  }
  const host::PortBuffers& buffers = *port.dcb.buffers;
  const bool arranged = is_arranged(buffers, lossless);
  if (arranged && has_headroom(buffers, lossless, *minimum)) {
    if (profile.buffers == BufferPolicy::by_size) out.want(knob, *now, *now, "PFC-3", "");
    return;
  }
  // Nobody arranged anything: the driver does when PFC goes on, and the transaction checks what came of it.
  if (!arranged && profile.buffers == BufferPolicy::driver) return;
  out.want(knob, *now, buffers_for(lossless, *minimum, buffers.total), "PFC-3",
           fmt::format("a lossless buffer needs {} B of headroom and thresholds", minimum->count()));
}

void want_watchdog(PortChanges& out, const Profile& profile, const host::NicRow& traits) {
  if (!profile.watchdog || !traits.watchdog.has_pfc_prevention || profile.lossless().is_empty()) return;
  const Knob knob = out.knob(KnobKind::pfc_prevention);
  const auto now = out.now(knob);
  if (!now) return;
  const std::int64_t ms = *profile.watchdog / milliseconds(1);
  if (ms != 0 && (ms < traits.watchdog.min_ms || ms > traits.watchdog.max_ms)) {
    out.remark(fmt::format("{} is left alone: {} ms is outside {}..{} ms", host::to_text(knob), ms,
                           traits.watchdog.min_ms, traits.watchdog.max_ms));
    return;
  }
  out.want(knob, *now, ms, "PFC-4", "a stalled receiver must not pause the network without end");
}

void want_cm_tos(PortChanges& out, const host::Host& host, const host::Port& port, const Profile& profile) {
  if (!profile.cm_tos || !port.rdma) return;
  const Knob knob = out.knob(KnobKind::cm_default_tos);
  const KnobValue after(std::int64_t{profile.cm_tos->wire()});
  constexpr std::string_view kWhy = "queue pairs that rdma_cm makes get the RoCE class by default";
  const auto now = host::value_of(host, knob);
  if (now) {
    out.want(knob, *now, after, "MAP-8", std::string(kWhy));
  } else if (host::is_hidden(now.error())) {
    out.add({knob, std::nullopt, after, Revert::exact, "MAP-8", std::string(kWhy), ""});
  } else {
    out.remark(fmt::format("{} is left alone: {}", host::to_text(knob), now.error().why));
  }
}

// What a parameter should be, and because of what.
struct WantedParameter {
  std::int64_t value = 0;
  std::string rule, why;
};

// What the profile says for this NIC, or for the one whose parameters it has; or nullptr.
const std::map<std::string, std::int64_t>* values_for(const Profile& profile, const host::NicRow& traits) {
  for (const std::string& nic : {traits.name, traits.cc.parameters_of}) {
    if (const auto found = profile.cc.find(nic); found != profile.cc.end()) return &found->second;
  }
  return nullptr;
}

// Values the profile names, and repairs of what is outside the driver's documented range.
std::map<std::string, WantedParameter> desired_cc(const host::Port& port, const Profile& profile,
                                                  const host::NicRow& traits) {
  std::map<std::string, WantedParameter> out;
  for (const host::CcParameter& row : traits.cc.parameters) {
    const auto now = port.cc_params->find(row.name);
    if (!profile.repair_cc || !row.default_value || now == port.cc_params->end()) continue;
    if (now->second >= row.min && now->second <= row.max) continue;
    out[row.name] = {*row.default_value, "ECN-2",
                     fmt::format("outside {}..{}, which the kernel does not check: back to the default",
                                 row.min, row.max)};
  }
  const auto* const mine = values_for(profile, traits);
  if (mine == nullptr) return out;
  for (const auto& [name, value] : *mine) {
    const host::CcParameter* row = traits.cc.find(name);
    out[name] = {value, "MAP-2", row == nullptr ? "the profile's value" : row->role};
  }
  return out;
}

void want_cc(PortChanges& out, const host::Port& port, const Profile& profile, const host::NicRow& traits) {
  if (traits.cc.interface == host::CcInterface::none) return;
  if (!port.cc_params) {
    if (profile.repair_cc || values_for(profile, traits) != nullptr) {
      out.remark(fmt::format("{} cc_params are left alone: {}", port.name, port.cc_params.error().why));
    }
    return;
  }
  if (port.congestion_control && *port.congestion_control == host::CongestionControl::programmable) {
    out.remark(fmt::format(
        "{} cc_params are left alone: a programmable algorithm runs and does not obey them (ECN-5)",
        port.name));
    return;
  }
  const auto wanted_parameters = desired_cc(port, profile, traits);
  if (!wanted_parameters.empty() && !port.congestion_control && traits.cc.may_be_programmable(port.pci_id)) {
    out.remark(fmt::format("{} cc_params may steer nothing (ECN-5): {}", port.name,
                           port.congestion_control.error().why));
  }
  for (const auto& [name, wanted] : wanted_parameters) {
    const Knob knob = out.knob(KnobKind::cc_param, name);
    const auto now = out.now(knob);
    if (!now) continue;
    out.want(knob, *now, wanted.value, wanted.rule, wanted.why);
    // Writing the CNP's priority makes the NIC stop deriving it from the map, so that belongs to the plan
    // too.
    const auto mode = port.cc_params->find("np_cnp_prio_mode");
    if (name == "np_cnp_prio" && *now != KnobValue(wanted.value) && mode != port.cc_params->end() &&
        mode->second != 0) {
      out.want(out.knob(KnobKind::cc_param, mode->first), mode->second, std::int64_t{0}, "MAP-2",
               "cleared by the NIC when np_cnp_prio is written");
    }
  }
}

}  // namespace

std::optional<Bytes> lossless_buffer_for(const host::Port& port, const Profile& profile,
                                         const host::NicRow& traits) {
  if (!traits.dcb.has_buffers || !(traits.dcb.pfc_delay_unit == host::DelayUnit::metres)) return std::nullopt;
  if (!port.link || !port.link->speed) return std::nullopt;
  Mlx5Headroom headroom;
  headroom.speed = *port.link->speed;
  headroom.mtu = std::max(port.mtu, profile.mtu.value_or(port.mtu));
  if (port.max_mtu) headroom.mtu = std::min(headroom.mtu, *port.max_mtu);
  headroom.cable = Metres(traits.dcb.pfc_delay_default);
  if (port.dcb.pfc && port.dcb.pfc->delay != 0) headroom.cable = Metres(port.dcb.pfc->delay);
  if (profile.cable) headroom.cable = *profile.cable;
  // Profiles and flags allow no more; the driver keeps none.
  headroom.cable = std::min({headroom.cable, Metres(traits.dcb.pfc_delay_max), kLongestCable});
  if (port.max_mtu) headroom.max_mtu = std::max(headroom.max_mtu, *port.max_mtu);
  return headroom.minimum_lossless_buffer();
}

host::BufferSetting buffers_for(PrioritySet lossless, Bytes minimum, Bytes total, Bytes cell) {
  const auto up = [&](Bytes size) { return (size + cell - Bytes(1)) / cell * cell; };
  const auto down = [&](Bytes size) { return size / cell * cell; };
  host::BufferSetting out;
  const std::int64_t count = lossless.size();
  // Half of the port for lossless traffic, as the driver's own arrangement, or more if the headroom asks.
  const Bytes each = std::max(up(minimum), down(total / 2 / std::max<std::int64_t>(count, 1)));
  std::uint8_t buffer = 0;
  for (const Priority p : lossless.members()) {
    out.buffer_of_priority[static_cast<std::size_t>(p.value())] = ++buffer;
    out.size[buffer] = each;
  }
  // At least this for everything else, even if that exceeds the total: then the guardrail has to say so.
  out.size[0] = std::max(up(kLargestFrame), down(total - std::min(total, each * count)));
  return out;
}

std::vector<Change> desired_changes(const host::Host& host, const host::Port& port, const Profile& profile,
                                    const host::NicRow& traits, std::vector<std::string>& remarks) {
  PortChanges out(host, port, traits, remarks);
  want_dcbx(out, profile, traits);
  want_pause(out, profile);
  want_app(out, profile);
  want_ets(out, port, profile, traits);
  want_pfc(out, port, profile, traits);
  want_buffers(out, port, profile, traits);
  want_watchdog(out, profile, traits);
  want_cc(out, port, profile, traits);
  want_cm_tos(out, host, port, profile);
  return out.take();
}

std::vector<Change> desired_bond_changes(const host::Host& host, const host::Port& bond,
                                         const Profile& profile, const host::NicRow& traits,
                                         std::vector<std::string>& remarks) {
  PortChanges out(host, bond, traits, remarks);
  want_cm_tos(out, host, bond, profile);
  return out.take();
}

}  // namespace rocetune::tune
