#include "agent/host/knob.h"

#include <algorithm>

#include "dataplane/base/reflect_json.h"

namespace rocetune::host {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

bool holds_kind(KnobKind kind, const KnobValue& value) {
  switch (kind) {
    case KnobKind::dcbx_mode:
      return std::holds_alternative<DcbxMode>(value);
    case KnobKind::pfc:
      return std::holds_alternative<PfcSetting>(value);
    case KnobKind::ets:
      return std::holds_alternative<EtsSetting>(value);
    case KnobKind::app_table:
      return std::holds_alternative<std::vector<AppEntry>>(value);
    case KnobKind::buffers:
      return std::holds_alternative<BufferSetting>(value);
    case KnobKind::global_pause:
      return std::holds_alternative<GlobalPause>(value);
    case KnobKind::mtu:
    case KnobKind::pfc_prevention:
    case KnobKind::cc_param:
    case KnobKind::cm_default_tos:
      return std::holds_alternative<std::int64_t>(value);
  }
  return false;
}

// What the interface can carry; inclusive.
struct Range {
  std::int64_t low, high;
};
Range range_of(KnobKind kind) {
  switch (kind) {
    case KnobKind::mtu:
      return {68, 0x7fffffff};  // ETH_MIN_MTU, and what the kernel's int can hold
    case KnobKind::pfc_prevention:
      return {0, 65535};  // u16 of ETHTOOL_PFC_PREVENTION_TOUT
    case KnobKind::cm_default_tos:
      return {0, 255};
    default:
      return {0, 0xffffffff};  // debugfs: u32, unchecked by the kernel
  }
}

bool is_valid_app(const std::vector<AppEntry>& entries) {
  return std::is_sorted(entries.begin(), entries.end()) &&
         std::all_of(entries.begin(), entries.end(), [](const AppEntry& entry) {
           return entry.selector != AppSelector::dscp || Dscp::is_valid(entry.protocol);
         });
}

std::string app_text(const std::vector<AppEntry>& entries) {
  if (entries.empty()) return "no entries";
  std::string out;
  const AppEntry* previous = nullptr;
  for (const AppEntry& entry : entries) {
    if (previous == nullptr || previous->selector != entry.selector) {
      out += fmt::format("{}{}", out.empty() ? "" : "; ", enum_name(entry.selector));
    }
    out += entry.selector == AppSelector::ethertype
               ? fmt::format(" {:#06x}->{}", entry.protocol, entry.priority.value())
               : fmt::format(" {}->{}", entry.protocol, entry.priority.value());
    previous = &entry;
  }
  return out;
}

// "prio->tc 0->0 … 7->0; ets tc0 50% tc3 50%; strict tc6". Transmit and receive shares differ only where
// someone set them apart; then both are shown.
std::string ets_text(const EtsSetting& ets) {
  std::string out = "prio->tc";
  for (std::size_t p = 0; p < 8; ++p) out += fmt::format(" {}->{}", p, ets.tc_of_priority[p].value());
  for (const auto& [algorithm, name] : EnumNames<Tsa>::names) {
    std::string classes;
    for (std::size_t tc = 0; tc < 8; ++tc) {
      if (ets.tsa[tc] != algorithm) continue;
      classes += fmt::format(" tc{}", tc);
      const int tx = ets.tx_share_percent[tc], rx = ets.rx_share_percent[tc];
      if (tx != 0) classes += fmt::format(" {}%", tx);
      if (rx != 0 && rx != tx) classes += fmt::format(" (rx {}%)", rx);
    }
    if (!classes.empty()) out += fmt::format("; {}{}", name, classes);
  }
  return out + (ets.willing ? "; willing" : "");
}

std::string buffer_text(const BufferSetting& buffers) {
  std::string out = "prio->buffer";
  for (std::size_t p = 0; p < 8; ++p) out += fmt::format(" {}->{}", p, buffers.buffer_of_priority[p]);
  out += "; sizes";
  for (std::size_t b = 0; b < 8; ++b) {
    if (!buffers.size[b].is_zero()) out += fmt::format(" {}:{}B", b, buffers.size[b].count());
  }
  return out;
}

std::string dcbx_text(const DcbxMode& mode) {
  std::string out;
  for_each_field(mode, [&](std::string_view name, bool set) {
    if (set) out += (out.empty() ? "" : " ") + std::string(name);
  });
  return out.empty() ? "none" : out;
}

std::string pause_text(const GlobalPause& pause) {
  return fmt::format("rx {}, tx {}, autoneg {}", pause.receive ? "on" : "off", pause.transmit ? "on" : "off",
                     pause.autonegotiate ? "on" : "off");
}

// A share means something for an ets class alone; drivers report 100 or 0 for the others as they like (mlx5:
// 100 for every strict and vendor class), so that a table never reads back as it was written.
EtsSetting writable(const Ets& ets) {
  EtsSetting out{ets.willing, ets.tc_of_priority, ets.tsa, ets.tx_share_percent, ets.rx_share_percent};
  for (std::size_t tc = 0; tc < 8; ++tc) {
    if (out.tsa[tc] == Tsa::ets) continue;
    out.tx_share_percent[tc] = 0;
    out.rx_share_percent[tc] = 0;
  }
  return out;
}

// T as the writable part of what was observed, or its reason.
template <class T, class Function>
Observed<KnobValue> project(const Observed<T>& observed, Function&& function) {
  if (!observed) return tl::unexpected(observed.error());
  return KnobValue(function(*observed));
}

}  // namespace

std::vector<AppEntry> entries_in_the_way(const std::vector<AppEntry>& current,
                                         const std::vector<AppEntry>& target) {
  std::vector<AppEntry> out;
  for (const AppEntry& entry : current) {
    const bool stays = std::ranges::find(target, entry) != target.end();
    const bool moves = std::ranges::any_of(target, [&](const AppEntry& wanted) {
      return wanted.selector == entry.selector && wanted.protocol == entry.protocol;
    });
    if (!stays && moves) out.push_back(entry);
  }
  return out;
}

bool is_valid(KnobKind kind, const KnobValue& value) {
  if (!holds_kind(kind, value)) return false;
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const Range range = range_of(kind);
    return *number >= range.low && *number <= range.high;
  }
  if (const auto* app = std::get_if<std::vector<AppEntry>>(&value)) return is_valid_app(*app);
  if (const auto* ets = std::get_if<EtsSetting>(&value)) {
    const auto within = [](const auto& shares) {
      return std::all_of(shares.begin(), shares.end(), [](std::uint8_t share) { return share <= 100; });
    };
    return within(ets->tx_share_percent) && within(ets->rx_share_percent);
  }
  if (const auto* buffers = std::get_if<BufferSetting>(&value)) {
    return std::all_of(buffers->buffer_of_priority.begin(), buffers->buffer_of_priority.end(),
                       [](std::uint8_t buffer) { return buffer < 8; }) &&
           std::all_of(buffers->size.begin(), buffers->size.end(),
                       [](Bytes size) { return size.count() >= 0 && size.count() <= 0xffffffff; });
  }
  return true;
}

Observed<KnobValue> value_of(const Host& host, const Knob& knob) {
  const Port* port = host.find_port(knob.port);
  if (port == nullptr) return absent(fmt::format("no port {}", knob.port));
  switch (knob.kind) {
    case KnobKind::dcbx_mode:
      return project(port->dcb.dcbx, [](const DcbxMode& mode) { return mode; });
    case KnobKind::pfc:
      return project(port->dcb.pfc, [](const Pfc& pfc) { return PfcSetting{pfc.enabled, pfc.delay}; });
    case KnobKind::ets:
      return project(port->dcb.ets, [](const Ets& ets) { return writable(ets); });
    case KnobKind::app_table:
      return project(port->dcb.app, [](std::vector<AppEntry> entries) {
        std::sort(entries.begin(), entries.end());
        return entries;
      });
    case KnobKind::buffers:
      return project(port->dcb.buffers, [](const PortBuffers& buffers) {
        return BufferSetting{buffers.buffer_of_priority, buffers.size};
      });
    case KnobKind::global_pause:
      return project(port->pause, [](const GlobalPause& pause) { return pause; });
    case KnobKind::mtu:
      return KnobValue(port->mtu.count());
    case KnobKind::pfc_prevention:
      return project(port->pfc_prevention_ms, [](std::uint16_t ms) { return std::int64_t{ms}; });
    case KnobKind::cc_param: {
      if (!port->cc_params) return tl::unexpected(port->cc_params.error());
      const auto found = port->cc_params->find(knob.parameter);
      if (found == port->cc_params->end()) return absent(fmt::format("no cc_params/{}", knob.parameter));
      return KnobValue(found->second);
    }
    case KnobKind::cm_default_tos:
      if (!port->rdma) return tl::unexpected(port->rdma.error());
      return project(port->rdma->cm_default_tos, [](TosByte tos) { return std::int64_t{tos.wire()}; });
  }
  return absent("unknown kind of knob");
}

bool is_hidden(const Unavailable& reason) {
  return reason.kind == Unavailable::Kind::absent && reason.why == kHiddenUntilMade;
}

std::string to_text(const Knob& knob) {
  if (knob.kind == KnobKind::cc_param) return fmt::format("{} cc_params/{}", knob.port, knob.parameter);
  return fmt::format("{} {}", knob.port, enum_name(knob.kind));
}

std::string to_text(const KnobValue& value) {
  return std::visit(Overloaded{[](std::int64_t number) { return fmt::format("{}", number); },
                               [](const DcbxMode& mode) { return dcbx_text(mode); },
                               [](const PfcSetting& pfc) {
                                 return fmt::format("priorities {}, delay {}", rocetune::to_text(pfc.enabled),
                                                    pfc.delay);
                               },
                               [](const EtsSetting& ets) { return ets_text(ets); },
                               [](const std::vector<AppEntry>& entries) { return app_text(entries); },
                               [](const BufferSetting& buffers) { return buffer_text(buffers); },
                               [](const GlobalPause& pause) { return pause_text(pause); }},
                    value);
}

std::string to_text(const Knob& knob, const KnobValue& value) {
  std::string text = to_text(value);
  if (!is_valid(knob.kind, value)) return text;
  switch (knob.kind) {
    case KnobKind::mtu:
      return text + " B";
    case KnobKind::pfc_prevention: {
      const std::int64_t ms = std::get<std::int64_t>(value);
      if (ms == 0) return "0 (off)";
      return ms == 65535 ? "65535 (driver's auto, 100 ms)" : text + " ms";
    }
    case KnobKind::cm_default_tos: {
      const TosByte tos = TosByte::from_wire(static_cast<std::uint8_t>(std::get<std::int64_t>(value)));
      return fmt::format("{} (DSCP {}, {})", text, tos.dscp().value(), rocetune::to_text(tos.ecn()));
    }
    default:
      return text;
  }
}

}  // namespace rocetune::host
