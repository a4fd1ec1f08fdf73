#include "agent/virtual_host/scenario_knobs.h"

#include <algorithm>

#include "agent/virtual_host/host_facts.h"
#include "congestion/dcqcn/parameter_table.h"

namespace rocetune::virtual_host {
namespace {

using fabric::HostParameters;
using host::KnobKind;

constexpr std::int64_t kPreventionOff = 0;
constexpr std::int64_t kPreventionAuto = 65535;
constexpr Duration kAutomaticPrevention = milliseconds(100);

tl::unexpected<Error> not_in_the_fabric(const host::Knob& knob, const std::string& why) {
  return fail(ErrorKind::unsupported, "{}: {}", host::to_text(knob), why);
}

Expected<> write_mtu(const host::Knob& knob, std::int64_t bytes, HostParameters& out) {
  std::string allowed;
  for (const engine::PathMtu mtu : {engine::PathMtu::b256, engine::PathMtu::b512, engine::PathMtu::b1024,
                                    engine::PathMtu::b2048, engine::PathMtu::b4096}) {
    if (netdev_mtu_for(mtu) == Bytes(bytes)) {
      out.mtu = mtu;
      return {};
    }
    allowed += (allowed.empty() ? "" : ", ") + to_text(netdev_mtu_for(mtu));
  }
  return not_in_the_fabric(
      knob, fmt::format("found {} B, allowed: {}, which stand for the path MTUs", bytes, allowed));
}

Expected<> write_app_table(const host::Knob& knob, const std::vector<host::AppEntry>& entries,
                           HostParameters& out) {
  fabric::DscpMap map{};
  bool has_dscp = false;
  for (const host::AppEntry& entry : entries) {
    if (entry.selector != host::AppSelector::dscp)
      return not_in_the_fabric(knob, "the fabric classifies by DSCP alone");
    map[entry.protocol] = entry.priority;
    has_dscp = true;
  }
  if (!has_dscp)
    return not_in_the_fabric(knob, "without DSCP entries a port trusts VLAN tags, and there are none");
  out.priority_of = map;
  return {};
}

Expected<> write_pfc(const host::Knob& knob, const host::PfcSetting& setting, HostParameters& out) {
  fabric::IngressParameters& in = out.receiver.buffer;
  if (setting.delay != 0)
    return not_in_the_fabric(knob, "the length of a cable is in its delay (topology.delay)");
  const Bytes taken = in.lossless_pool.headroom * setting.enabled.size();
  if (taken >= in.buffer) {
    return not_in_the_fabric(knob, fmt::format("the headrooms of {} take {}, all of the NIC's buffer of {}",
                                               to_text(setting.enabled), to_text(taken), to_text(in.buffer)));
  }
  in.lossless = setting.enabled;
  return {};
}

Expected<> write_ets(const host::Knob& knob, const host::EtsSetting& setting, HostParameters& out) {
  if (setting.willing) return not_in_the_fabric(knob, "the fabric has no DCBX, from which to take ETS");
  const auto is_zero = [](std::uint8_t share) { return share == 0; };
  if (!std::ranges::all_of(setting.rx_share_percent, is_zero))
    return not_in_the_fabric(knob, "what a host receives is not shared by classes");
  EtsConfig ets;
  int sum = 0;
  for (std::size_t i = 0; i < ets.classes.size(); ++i) {
    if (setting.tsa[i] != host::Tsa::strict && setting.tsa[i] != host::Tsa::ets)
      return not_in_the_fabric(
          knob, fmt::format("class {} is {}, allowed: strict, ets", i, enum_name(setting.tsa[i])));
    const bool is_strict = setting.tsa[i] == host::Tsa::strict;
    ets.classes[i] = {.strict = is_strict, .share_percent = is_strict ? 0 : setting.tx_share_percent[i]};
    sum += ets.classes[i].share_percent;
  }
  if (sum != 0 && sum != 100) {
    return fail(ErrorKind::bad_input, "{}: found shares of {} % in all, allowed: 100, or none",
                host::to_text(knob), sum);
  }
  out.ets = ets;
  out.class_of = setting.tc_of_priority;
  return {};
}

void write_prevention(std::int64_t ms, HostParameters& out) {
  out.receiver.storm_prevention = ms == kPreventionOff    ? Duration::max()
                                  : ms == kPreventionAuto ? kAutomaticPrevention
                                                          : milliseconds(ms);
}

Expected<> write_tos(const host::Knob& knob, std::int64_t byte, HostParameters& out) {
  const TosByte tos = TosByte::from_wire(static_cast<std::uint8_t>(byte));
  if (tos.ecn() != Ecn::ect0) return not_in_the_fabric(knob, "the engine sends ECT(0), as RoCE NICs do");
  out.data_dscp = tos.dscp();
  return {};
}

Expected<> write_parameter(const host::Knob& knob, std::int64_t value, HostParameters& out) {
  if (knob.parameter == "np_cnp_prio_mode" && value == 1) return {};
  const dcqcn::Parameter* row = dcqcn::find_parameter(knob.parameter);
  if (row == nullptr || row->name.starts_with("cp_") || row->name == "np_cnp_prio") {
    return not_in_the_fabric(knob, knob.parameter.starts_with("np_cnp_prio")
                                       ? "CNPs take their priority from the map of DSCPs"
                                       : "the fabric has no such parameter");
  }
  if (value < row->minimum || value > row->maximum) {
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: {} to {}", host::to_text(knob), value,
                row->minimum, row->maximum);
  }
  dcqcn::Parameters parameters{.rp = out.controller.dcqcn, .np = out.notification, .cp = {}};
  row->write(parameters, value);
  out.controller.dcqcn = parameters.rp;
  out.notification = parameters.np;
  return {};
}

Expected<> write_one(const host::KnobWrite& write, HostParameters& out) {
  const host::Knob& knob = write.knob;
  const auto* number = std::get_if<std::int64_t>(&write.target);
  switch (knob.kind) {
    case KnobKind::mtu:
      return write_mtu(knob, *number, out);
    case KnobKind::app_table:
      return write_app_table(knob, std::get<std::vector<host::AppEntry>>(write.target), out);
    case KnobKind::pfc:
      return write_pfc(knob, std::get<host::PfcSetting>(write.target), out);
    case KnobKind::pfc_prevention:
      write_prevention(*number, out);
      return {};
    case KnobKind::cm_default_tos:
      return write_tos(knob, *number, out);
    case KnobKind::cc_param:
      return write_parameter(knob, *number, out);
    case KnobKind::dcbx_mode:
    case KnobKind::global_pause:
      if (write.target == write.current) return {};
      return not_in_the_fabric(knob, knob.kind == KnobKind::dcbx_mode ? "the fabric has no DCBX"
                                                                      : "the fabric has no 802.3x pause");
    case KnobKind::ets:
      return write_ets(knob, std::get<host::EtsSetting>(write.target), out);
    case KnobKind::buffers:
      return not_in_the_fabric(knob, "a NIC of the fabric has one pool, no buffers by priority");
  }
  ROCETUNE_ASSERT(false);
}

}  // namespace

Expected<> ScenarioKnobs::write(const host::Port& port, const std::vector<host::KnobWrite>& batch) {
  HostParameters changed = parameters_of(scenario_, host_);
  if (changed.receiver.buffer.flow_control == fabric::FlowControl::credits)
    return fail(ErrorKind::unsupported, "{}: the link is InfiniBand", name_of(host_));
  for (const host::KnobWrite& write : batch) {
    ROCETUNE_ASSERT(host::is_valid(write.knob.kind, write.target));
    if (write.knob.port != port.name || port.name != kPort)
      return fail(ErrorKind::absent, "no port {} on {}, which has {}", write.knob.port, name_of(host_),
                  kPort);
    if (auto written = write_one(write, changed); !written) return written;
  }
  scenario_.options.own_host.insert_or_assign(host_, changed);
  return {};
}

}  // namespace rocetune::virtual_host
