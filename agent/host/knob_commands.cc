// Each kind of change as the lines an engineer would type.
#include <algorithm>
#include <functional>

#include "agent/host/knob.h"

namespace rocetune::host {
namespace {

using Lines = std::vector<std::string>;

// What goes in front of a command so that it acts in the port's network namespace. Readers name a namespace
// that `ip netns` knows by its name, any other by a path or as "pid N".
std::string namespace_prefix(const Port& port) {
  if (port.network_namespace.empty()) return "";
  if (port.network_namespace.front() == '/') {
    return fmt::format("nsenter --net={} ", port.network_namespace);
  }
  if (port.network_namespace.starts_with("pid ")) {
    return fmt::format("nsenter --net=/proc/{}/ns/net ", port.network_namespace.substr(4));
  }
  return fmt::format("ip netns exec {} ", port.network_namespace);
}

std::string_view on_off(bool on) { return on ? "on" : "off"; }

// "a,b,c" over the eight elements of a table, as mlnx_qos takes them.
template <class Function>
std::string comma_list(Function&& element) {
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) out += fmt::format("{}{}", i == 0 ? "" : ",", element(i));
  return out;
}

// " 0:a 1:b" over the eight elements of a table, as dcb takes them.
template <class Function>
std::string dcb_map(Function&& element) {
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) out += fmt::format(" {}:{}", i, element(i));
  return out;
}

Lines pfc_lines(const Port& port, const PfcSetting& before, const PfcSetting& after, bool with_mlnx_qos) {
  std::string line = fmt::format("dcb pfc set dev {} prio-pfc all:off", port.name);
  for (const Priority p : after.enabled.members()) line += fmt::format(" {}:on", p.value());
  if (after.delay != before.delay) line += fmt::format(" delay {}", after.delay);
  Lines lines{line};
  if (with_mlnx_qos) {
    std::string qos = fmt::format("mlnx_qos -i {} --pfc {}", port.name, comma_list([&](std::size_t p) {
                                    return after.enabled.contains(Priority(static_cast<int>(p))) ? 1 : 0;
                                  }));
    if (after.delay != before.delay) qos += fmt::format(" --cable_len {}", after.delay);
    lines.push_back(qos);
  }
  return lines;
}

Lines ets_lines(const Port& port, const EtsSetting& after, bool with_mlnx_qos) {
  const auto tx = [&](std::size_t tc) { return after.tx_share_percent[tc]; };
  const auto rx = [&](std::size_t tc) { return after.rx_share_percent[tc]; };
  const auto tc_of = [&](std::size_t p) { return after.tc_of_priority[p].value(); };
  Lines lines{fmt::format("dcb ets set dev {} willing {} prio-tc{} tc-tsa{} tc-bw{} pg-bw{}", port.name,
                          on_off(after.willing), dcb_map(tc_of),
                          dcb_map([&](std::size_t tc) { return enum_name(after.tsa[tc]); }), dcb_map(tx),
                          dcb_map(rx))};
  // mlnx_qos has no word for credit-based shaping and gives shares to ets classes only.
  const bool has_credit_based =
      std::find(after.tsa.begin(), after.tsa.end(), Tsa::credit_based) != after.tsa.end();
  if (with_mlnx_qos && !has_credit_based) {
    lines.push_back(
        fmt::format("mlnx_qos -i {} --prio_tc {} --tsa {} --tcbw {}", port.name, comma_list(tc_of),
                    comma_list([&](std::size_t tc) { return enum_name(after.tsa[tc]); }), comma_list(tx)));
  }
  return lines;
}

// The keyword of `dcb app` for an entry and the entry's text, or nothing for what iproute2 6.1 cannot spell.
struct AppWord {
  std::string keyword, mapping;
};
std::optional<AppWord> app_word(const AppEntry& entry) {
  const int priority = entry.priority.value();
  switch (entry.selector) {
    case AppSelector::ethertype:
      // Ethertype 0 is how the kernel stores the port's default priority.
      if (entry.protocol == 0) return AppWord{"default-prio", fmt::format("{}", priority)};
      return AppWord{"ethtype-prio", fmt::format("{:#06x}:{}", entry.protocol, priority)};
    case AppSelector::tcp:
      return AppWord{"stream-port-prio", fmt::format("{}:{}", entry.protocol, priority)};
    case AppSelector::udp:
      return AppWord{"dgram-port-prio", fmt::format("{}:{}", entry.protocol, priority)};
    case AppSelector::any_port:
      return AppWord{"port-prio", fmt::format("{}:{}", entry.protocol, priority)};
    case AppSelector::dscp:
      return AppWord{"dscp-prio", fmt::format("{}:{}", entry.protocol, priority)};
    case AppSelector::pcp:
      return std::nullopt;  // pcp-prio came with iproute2 6.2
  }
  return std::nullopt;
}

// One line per keyword: what follows default-prio is read as one more priority, not as a keyword.
Lines app_verb_lines(const Port& port, std::string_view verb, const std::vector<AppEntry>& entries) {
  Lines lines;
  std::string keyword;
  for (const AppEntry& entry : entries) {
    const auto word = app_word(entry);
    if (!word) continue;
    if (word->keyword != keyword) {
      keyword = word->keyword;
      lines.push_back(fmt::format("dcb app {} dev {} {}", verb, port.name, keyword));
    }
    lines.back() += " " + word->mapping;
  }
  return lines;
}

Lines app_lines(const Port& port, std::vector<AppEntry> before, std::vector<AppEntry> after,
                bool with_mlnx_qos) {
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  std::vector<AppEntry> added, removed;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(removed));
  // What gets another priority is deleted first: some drivers (mlx5) exchange the entry by themselves when
  // the new one is added, and a later deletion of the old one fails. The rest is deleted last, so that trust
  // stays at DSCP: mlx5 falls back to PCP when the last DSCP entry goes.
  const auto is_mapped_anew = [&](const AppEntry& old) {
    return std::any_of(added.begin(), added.end(), [&](const AppEntry& entry) {
      return entry.selector == old.selector && entry.protocol == old.protocol;
    });
  };
  const auto rest = std::stable_partition(removed.begin(), removed.end(), is_mapped_anew);
  Lines lines = app_verb_lines(port, "del", {removed.begin(), rest});
  for (std::string& line : app_verb_lines(port, "add", added)) lines.push_back(std::move(line));
  for (std::string& line : app_verb_lines(port, "del", {rest, removed.end()}))
    lines.push_back(std::move(line));
  const auto is_dscp = [](const AppEntry& entry) { return entry.selector == AppSelector::dscp; };
  if (with_mlnx_qos) {
    for (const AppEntry& entry : added) {
      if (!is_dscp(entry)) continue;
      lines.push_back(fmt::format("mlnx_qos -i {} --dscp2prio set,{},{}", port.name, entry.protocol,
                                  entry.priority.value()));
    }
    for (auto entry = rest; entry != removed.end(); ++entry) {
      if (!is_dscp(*entry)) continue;
      lines.push_back(fmt::format("mlnx_qos -i {} --dscp2prio del,{},{}", port.name, entry->protocol,
                                  entry->priority.value()));
    }
  }
  return lines;
}

Lines buffer_lines(const Port& port, const BufferSetting& after, bool with_mlnx_qos) {
  const auto buffer_of = [&](std::size_t p) { return after.buffer_of_priority[p]; };
  const auto size_of = [&](std::size_t b) { return after.size[b].count(); };
  Lines lines{fmt::format("dcb buffer set dev {} prio-buffer{} buffer-size{}", port.name, dcb_map(buffer_of),
                          dcb_map(size_of))};
  if (with_mlnx_qos) {
    lines.push_back(fmt::format("mlnx_qos -i {} --prio2buffer {} --buffer_size {}", port.name,
                                comma_list(buffer_of), comma_list(size_of)));
  }
  return lines;
}

Lines dcbx_lines(const Port& port, const DcbxMode& after, bool with_mlnx_qos) {
  Lines lines;
  std::string words;
  if (after.host) words += " host";
  if (after.lld_managed) words += " lld-managed";
  if (after.cee) words += " cee";
  if (after.ieee) words += " ieee";
  if (after.is_static) words += " static";
  // Giving DCBX back to mlx5 firmware is a write of no bits at all, which dcb cannot express: only mlnx_qos.
  const bool back_to_firmware = port.nic == "mlx5" && !after.host;
  if (!back_to_firmware && !words.empty()) {
    lines.push_back(fmt::format("dcb dcbx set dev {}{}", port.name, words));
  }
  if (with_mlnx_qos || back_to_firmware) {
    if (after.host || back_to_firmware) {
      lines.push_back(fmt::format("mlnx_qos -i {} --dcbx {}", port.name, after.host ? "os" : "fw"));
    }
  }
  return lines;
}

Lines cm_tos_lines(const Port& port, std::int64_t tos) {
  if (!port.rdma) return {};
  const std::string device = fmt::format("/sys/kernel/config/rdma_cm/{}", port.rdma->device);
  return {fmt::format("mkdir -p {}", device),
          fmt::format("echo {} > {}/ports/{}/default_roce_tos", tos, device, port.rdma->port)};
}

Lines cc_param_lines(const Port& port, const std::string& parameter, std::int64_t value) {
  if (!port.cc_folder) return {};
  return {fmt::format("echo {} > {}/{}", value, *port.cc_folder, parameter)};
}

}  // namespace

std::vector<std::string> equivalent_commands(const Port& port, const Knob& knob, const KnobValue& before,
                                             const KnobValue& after, bool with_mlnx_qos) {
  ROCETUNE_ASSERT(is_valid(knob.kind, before) && is_valid(knob.kind, after));
  const auto number = [&] { return std::get<std::int64_t>(after); };
  Lines lines;
  bool in_namespace = true;  // files of debugfs and configfs are the same from everywhere
  switch (knob.kind) {
    case KnobKind::dcbx_mode:
      lines = dcbx_lines(port, std::get<DcbxMode>(after), with_mlnx_qos);
      break;
    case KnobKind::pfc:
      lines = pfc_lines(port, std::get<PfcSetting>(before), std::get<PfcSetting>(after), with_mlnx_qos);
      break;
    case KnobKind::ets:
      lines = ets_lines(port, std::get<EtsSetting>(after), with_mlnx_qos);
      break;
    case KnobKind::app_table:
      lines = app_lines(port, std::get<std::vector<AppEntry>>(before), std::get<std::vector<AppEntry>>(after),
                        with_mlnx_qos);
      break;
    case KnobKind::buffers:
      lines = buffer_lines(port, std::get<BufferSetting>(after), with_mlnx_qos);
      break;
    case KnobKind::global_pause: {
      const GlobalPause& pause = std::get<GlobalPause>(after);
      lines = {fmt::format("ethtool -A {} autoneg {} rx {} tx {}", port.name, on_off(pause.autonegotiate),
                           on_off(pause.receive), on_off(pause.transmit))};
      break;
    }
    case KnobKind::mtu:
      lines = {fmt::format("ip link set dev {} mtu {}", port.name, number())};
      break;
    case KnobKind::pfc_prevention:
      lines = {fmt::format("ethtool --set-tunable {} pfc-prevention-tout {}", port.name, number())};
      break;
    case KnobKind::cc_param:
      lines = cc_param_lines(port, knob.parameter, number());
      in_namespace = false;
      break;
    case KnobKind::cm_default_tos:
      lines = cm_tos_lines(port, number());
      in_namespace = false;
      break;
  }
  if (in_namespace) {
    for (std::string& line : lines) line = namespace_prefix(port) + line;
  }
  return lines;
}

bool hides_refusal(std::string_view command) {
  return command.starts_with("dcb ") || command.find(" dcb ") != std::string_view::npos;
}

}  // namespace rocetune::host
