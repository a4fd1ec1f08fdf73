#include "agent/tune/fabric_plant/advice.h"

#include <algorithm>

namespace rocetune::fabric_plant {
namespace {

// What a setting is called where it is made. {} is its value. Sources: SONiC's configuration database
// (sonic-buildimage, sonic-yang-models), dcb(8) of iproute2 6.1, ethtool(8), the mlx5 driver's sysfs and
// debugfs, NCCL's environment.
struct Words {
  std::string_view knob;  // what follows the dot, of all parts or single ones
  std::string_view at_switches;
  std::string_view at_hosts;
};
constexpr Words kWords[] = {
    {"kmin", "WRED_PROFILE green_min_threshold {}", ""},
    {"kmax", "WRED_PROFILE green_max_threshold {}", ""},
    {"pmax", "WRED_PROFILE green_drop_probability {}", ""},
    {"alpha_exponent", "BUFFER_PROFILE (lossless) dynamic_th {}", ""},
    {"headroom", "BUFFER_PROFILE (lossless) xoff {}", ""},
    {"watchdog", "PFC_WD detection_time {}", ""},
    {"marked", "QUEUE wred_profile on queues {}", ""},
    {"data_priority", "DSCP_TO_TC_MAP: the data's DSCP to {}",
     "dcb app replace dev IFACE dscp-prio <data>:{}"},
    {"cnp_priority", "DSCP_TO_TC_MAP: the CNPs' DSCP to {}", "dcb app replace dev IFACE dscp-prio <cnp>:{}"},
    {"priority_of_dscp", "DSCP_TO_TC_MAP {}", "dcb app replace dev IFACE dscp-prio {}"},
    {"lossless", "PORT_QOS_MAP pfc_enable {}", "dcb pfc set dev IFACE prio-pfc all:off, then on for {}"},
    {"ets", "SCHEDULER of each QUEUE (DWRR weight, or STRICT): {}",
     "dcb ets set dev IFACE tc-tsa, tc-bw: {}"},
    {"dscp", "", "rdma_cm default_roce_tos: DSCP {} times 4, plus 2"},
    {"mtu", "", "path MTU {}: ip link set dev IFACE mtu, 96 bytes more or the next larger usual one"},
    {"controller", "",
     "echo 1 (dcqcn) or 0 (off) > /sys/class/net/IFACE/ecn/roce_{{np,rp}}/enable/<priority>: {}"},
    {"recovery", "", "mlxreg ROCE_ACCEL selective_repeat: {}"},
    {"storm_prevention", "", "ethtool --set-tunable IFACE pfc-prevention-tout {}"},
    {"ack_timeout", "", "NCCL_IB_TIMEOUT={}"},
    {"queue_pairs", "", "NCCL_IB_QPS_PER_CONNECTION={}"},
    {"message", "", "message (chunk) of {} bytes"},
};
constexpr std::string_view kParameterWords = "echo {} > /sys/kernel/debug/mlx5/BDF/cc_params/";

// "as the others: 26=3" is 26=3.
std::string bare(const std::string& value) {
  for (const std::string_view prefix : {"as found: ", "as the others: "}) {
    if (value.starts_with(prefix)) return value.substr(prefix.size());
  }
  return value;
}

std::string number_or_text(const search::Knob& knob, double value) {
  if (knob.is_numeric()) return fmt::format("{}", value);
  if (knob.kind == search::KnobKind::toggle) return value == 0 ? "0" : "1";
  return bare(knob.text(value));
}

std::string words_of(const FabricKnob& knob, std::string_view key, double value) {
  const std::string text = number_or_text(knob.knob, value);
  if (key.starts_with("rp_") || key.starts_with("np_"))
    return fmt::format(fmt::runtime(kParameterWords), text) + std::string(key);
  const auto words = std::ranges::find(kWords, key, &Words::knob);
  if (words == std::end(kWords)) return std::string(key) + " " + text;
  std::string out;
  const bool both = knob.place == Place::classes;
  if ((knob.place == Place::switches || both) && !words->at_switches.empty())
    out = fmt::format(fmt::runtime(words->at_switches), text);
  if ((knob.place != Place::switches) && !words->at_hosts.empty())
    out += (out.empty() ? "" : "; ") + fmt::format(fmt::runtime(words->at_hosts), text);
  return out;
}

std::string where_of(std::string_view before_dot) {
  if (before_dot == "switches") return "all switches";
  if (before_dot == "hosts") return "all hosts";
  if (before_dot == "classes") return "hosts and switches";
  return std::string(before_dot);
}

}  // namespace

std::vector<Step> steps_of(const FabricPlant& plant, const search::Candidate& candidate) {
  std::vector<Step> out;
  const search::Space& space = plant.space();
  for (const search::Setting& setting : space.difference(space.start(), candidate)) {
    const FabricKnob& knob = plant.knobs()[setting.knob];
    const std::string_view name = knob.knob.name;
    const std::size_t dot = name.find('.');
    const std::string_view key = name.substr(dot + 1);
    out.push_back({.knob = knob.knob.name,
                   .where = where_of(name.substr(0, dot)),
                   .before = bare(knob.knob.text(knob.knob.start)),
                   .after = bare(knob.knob.text(setting.value)),
                   .cost = knob.knob.cost,
                   .how = words_of(knob, key, setting.value),
                   .undo = words_of(knob, key, knob.knob.start)});
  }
  return out;
}

}  // namespace rocetune::fabric_plant
