// SONiC: tables of config_db.json. Source: sonic-buildimage files/build_templates/qos_config.j2.
#include <fmt/core.h>

#include <algorithm>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_plan.h"

namespace rocetune::evidence {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using Rows = std::vector<std::pair<std::string, Fields>>;

constexpr const char* kMapName = "ROCE";

class SonicTables {
 public:
  void add(const std::string& table, const Rows& rows) {
    if (rows.empty()) return;
    text_ += fmt::format("{}    \"{}\": {{\n", text_.empty() ? "" : ",\n", table);
    bool first = true;
    for (const auto& [key, fields] : rows) {
      text_ += fmt::format("{}        \"{}\": {{", first ? "" : ",\n", key);
      first = false;
      bool first_field = true;
      for (const auto& [name, value] : fields) {
        text_ += fmt::format("{}\"{}\": \"{}\"", first_field ? "" : ", ", name, value);
        first_field = false;
      }
      text_ += "}";
    }
    text_ += "\n    }";
  }
  std::string take() { return "{\n" + text_ + "\n}\n"; }

 private:
  std::string text_;
};

std::string scheduler_of(const PlannedClass& c) {
  return c.strict ? std::string("roce.strict") : fmt::format("roce.share{}", c.share_percent);
}

Rows scheduler_rows(const SwitchPlan& plan) {
  std::map<std::string, Fields> rows;
  rows[fmt::format("roce.share{}", plan.default_share_percent)] = {
      {"type", "DWRR"}, {"weight", std::to_string(plan.default_share_percent)}};
  for (const PlannedClass& c : plan.classes) {
    rows[scheduler_of(c)] = c.strict ? Fields{{"type", "STRICT"}}
                                     : Fields{{"type", "DWRR"}, {"weight", std::to_string(c.share_percent)}};
  }
  return {rows.begin(), rows.end()};
}

Rows queue_rows(const SwitchPlan& plan) {
  Rows out;
  for (const std::string& port : plan.ports) {
    out.push_back({fmt::format("{}|{}", port, plan.default_queue.value()),
                   {{"scheduler", fmt::format("roce.share{}", plan.default_share_percent)}}});
    for (const PlannedClass& c : plan.classes) {
      Fields fields{{"scheduler", scheduler_of(c)}};
      if (plan.marks(c)) fields.emplace_back("wred_profile", "ROCE_LOSSLESS");
      out.emplace_back(fmt::format("{}|{}", port, c.queue.value()), std::move(fields));
    }
  }
  return out;
}

}  // namespace

SwitchLines sonic_lines(const SwitchPlan& plan) {
  const SwitchModel model = model_of(plan, SwitchWriter::sonic);
  const SwitchSettings& settings = model.common;
  SonicTables out;
  const bool by_dscp = plan.trust == SwitchTrust::dscp;
  Fields tcs, queues, groups, pauses;
  for (const auto& [dscp, priority] : settings.priority_of_dscp)
    tcs.emplace_back(std::to_string(dscp.value()), std::to_string(priority.value()));
  for (const auto& [priority, queue] : settings.queue_of_priority) {
    const std::string p = std::to_string(priority.value());
    if (!by_dscp) tcs.emplace_back(p, p);
    queues.emplace_back(p, std::to_string(queue.value()));
    // Lossless priorities have a priority group of their own; the rest shares group 0.
    groups.emplace_back(p, settings.pfc->contains(priority) ? p : "0");
    if (settings.pfc->contains(priority)) pauses.emplace_back(p, std::to_string(queue.value()));
  }
  const char* const map_table = by_dscp ? "DSCP_TO_TC_MAP" : "DOT1P_TO_TC_MAP";
  out.add(map_table, {{kMapName, tcs}});
  out.add("TC_TO_QUEUE_MAP", {{kMapName, queues}});
  out.add("TC_TO_PRIORITY_GROUP_MAP", {{kMapName, groups}});
  if (!pauses.empty()) out.add("MAP_PFC_PRIORITY_TO_QUEUE", {{kMapName, pauses}});
  if (std::ranges::any_of(plan.classes, [&](const PlannedClass& c) { return plan.marks(c); })) {
    out.add("WRED_PROFILE", {{"ROCE_LOSSLESS",
                              {{"ecn", "ecn_all"},
                               {"wred_green_enable", "true"},
                               {"green_min_threshold", std::to_string(plan.mark_from->count())},
                               {"green_max_threshold", std::to_string(plan.mark_all->count())},
                               {"green_drop_probability", std::to_string(plan.mark_percent)}}}});
  }
  out.add("SCHEDULER", scheduler_rows(plan));
  Rows ports, bindings, watchdogs;
  for (const std::string& port : plan.ports) {
    if (plan.mtu) ports.push_back({port, {{"mtu", std::to_string(plan.mtu->count())}}});
    Fields fields{{by_dscp ? "dscp_to_tc_map" : "dot1p_to_tc_map", kMapName},
                  {"tc_to_queue_map", kMapName},
                  {"tc_to_pg_map", kMapName}};
    if (!pauses.empty()) {
      fields.emplace_back("pfc_to_queue_map", kMapName);
      if (plan.storm_after) fields.emplace_back("pfcwd_sw_enable", list_of(*settings.pfc));
    }
    fields.emplace_back("pfc_enable", list_of(*settings.pfc));
    bindings.emplace_back(port, std::move(fields));
    if (plan.storm_after && !pauses.empty()) {
      const std::string ms = std::to_string(*plan.storm_after / milliseconds(1));
      watchdogs.push_back({port, {{"action", "drop"}, {"detection_time", ms}, {"restoration_time", ms}}});
    }
  }
  out.add("PORT", ports);
  out.add("PORT_QOS_MAP", bindings);
  out.add("QUEUE", queue_rows(plan));
  out.add("PFC_WD", watchdogs);
  return {out.take(),
          {"save it as roce.json; then: sudo config load roce.json -y && sudo config save -y",
           "buffers of lossless groups follow from speed and cable length: see that CABLE_LENGTH is right "
           "(show buffer "
           "configuration)",
           "prove it under load: show pfc counters, show queue counters"}};
}

}  // namespace rocetune::evidence
