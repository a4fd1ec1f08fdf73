#include "agent/diagnose/ecn.h"

#include <fmt/core.h>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/engine.h"
#include "agent/diagnose/pause.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

bool is_control_off(const PortFacts& facts) {
  return facts.port.congestion_control && *facts.port.congestion_control == host::CongestionControl::off;
}

// ---- ECN-2 ----

// What the vendor driver's switches say: findings, or evidence that both points are on.
void judge_enables(const PortFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  if (!facts.port.ecn_enable || !facts.roce_class) return;
  const Priority p = facts.roce_class->priority;
  const struct {
    const char* name;
    const char* part;
    PrioritySet enabled;
    const char* directory;
  } points[] = {{"reaction point", "RP", facts.port.ecn_enable->reaction_point, "roce_rp"},
                {"notification point", "NP", facts.port.ecn_enable->notification_point, "roce_np"}};
  for (const auto& point : points) {
    const Evidence seen = setting(fmt::format("ECN {} on for", point.part), to_text(point.enabled), "",
                                  fmt::format("sysfs ecn/{}/enable", point.directory));
    if (point.enabled.contains(p)) {
      good.push_back(seen);
      continue;
    }
    Finding finding;
    finding.evidence = {seen};
    finding.confidence = facts.roce_class->confidence;
    finding.cause =
        fmt::format("The {} is off for the RoCE priority {}: congestion control has only half of its loop.",
                    point.name, p.value());
    finding.fix = advise(fmt::format("Turn the {} on for priority {}, on both hosts.", point.name, p.value()),
                         {fmt::format("echo 1 > /sys/class/net/{}/ecn/{}/enable/{}", facts.port.name,
                                      point.directory, p.value())});
    findings.push_back(std::move(finding));
  }
}

Outcome judge_points(const PortFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  judge_enables(facts, findings, good);
  std::string missing =
      facts.port.ecn_enable ? "" : "ECN switches: " + facts.port.ecn_enable.error().why + "; ";
  const counters::PortDelta* delta = facts.delta;
  const auto ignored = delta == nullptr ? std::nullopt : delta->increment("cnp_ignored");
  const auto handled = delta == nullptr ? std::nullopt : delta->increment("cnp_handled");
  if (ignored.value_or(0) > 0 && findings.empty()) {
    Finding finding;
    finding.severity = is_control_off(facts) ? Severity::info : Severity::warning;
    finding.evidence = counters_seen(*delta, {"cnp_ignored", "cnp_handled"});
    finding.cause =
        is_control_off(facts)
            ? "CNPs arrive and are ignored: congestion control is off on this port."
            : "CNPs arrive and are ignored: the reaction point is off for their priority or algorithm.";
    finding.fix = advise(
        "Turn the reaction point on for the RoCE priority (ROCE_CC_PRIO_MASK_P1, or sysfs ecn/roce_rp), or "
        "congestion control off at the peer too.");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (handled.value_or(0) > 0 && ignored) {
    for (Evidence& e : counters_seen(*delta, {"cnp_handled", "cnp_ignored"})) good.push_back(std::move(e));
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  if (delta == nullptr) return Outcome::not_checked(missing + "no counters were sampled");
  if (!ignored) return Outcome::not_checked(missing + "cnp_ignored is not counted here");
  return Outcome::not_checked(missing + "no CNP arrived in the interval");
}

// ---- ECN-3 ----

Finding marks_without_cnps(const counters::PortDelta& delta) {
  Finding finding;
  finding.evidence = counters_seen(delta, {"rx_ce_packets", "cnp_sent"});
  finding.cause =
      "Packets arrive marked CE and no CNP is sent: the notification point is off, so senders never hear of "
      "congestion.";
  finding.fix = advise(
      "Turn the notification point on for this port (ROCE_CC_PRIO_MASK_P1, or sysfs ecn/roce_np/enable).");
  return finding;
}

Finding pause_without_cnps(const PortFacts& facts, const counters::PortDelta& delta) {
  const Priority p = facts.roce_class->priority;
  Finding finding;
  finding.confidence = Confidence::medium;
  finding.evidence = counters_seen(delta, {"rx_pause_duration_us", "rx_pause_frames", "tx_packets"}, p);
  for (Evidence& e : counters_seen(delta, {"cnp_handled", "cnp_ignored"}))
    finding.evidence.push_back(std::move(e));
  finding.cause = fmt::format(
      "Priority {} is paused by the network and no CNP came back: PFC acts where ECN should have acted "
      "before it.",
      p.value());
  finding.fix = advise(
      "Check the ECN path in this order: packets leave with ECT, the switch marks this class (right queue, "
      "Kmin well below Xoff), the receiver's notification point is on, CNPs have a priority without PFC.");
  return finding;
}

Outcome judge_ecn_path(const PortFacts& facts, const counters::PortDelta& delta) {
  if (is_control_off(facts))
    return Outcome::not_checked("congestion control is off on this port, which is legal (ECN-4)");
  const auto marks = delta.increment("rx_ce_packets");
  const auto sent = delta.increment("cnp_sent");
  std::vector<Finding> findings;
  if (marks && sent && *marks >= facts.policy.notable_marks && *sent == 0)
    findings.push_back(marks_without_cnps(delta));
  if (is_paused_without_cnp(facts, delta)) {
    if (delta.increment("cnp_ignored").value_or(0) > 0) {
      if (findings.empty()) return Outcome::not_checked("CNPs arrive and are ignored: see ECN-2");
    } else {
      findings.push_back(pause_without_cnps(facts, delta));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));

  Needs need;
  need(delta, "rx_ce_packets");
  need(delta, "cnp_sent");
  need(delta, "cnp_handled");
  if (need.missing()) return need.not_checked();
  const bool moved = *marks + *sent + *delta.increment("cnp_handled") > 0;
  if (!moved) {
    if (std::string idle = why_no_traffic_verdict(facts, false); !idle.empty())
      return Outcome::not_checked(std::move(idle));
  }
  return Outcome::passed(counters_seen(delta, {"rx_ce_packets", "cnp_sent", "cnp_handled"}));
}

// ---- ECN-5 ----

Finding out_of_range(const PortFacts& facts, const std::string& name, std::int64_t value,
                     const host::CcParameter& range, bool steers_nothing) {
  Finding finding;
  finding.subject = name;
  finding.severity = steers_nothing ? Severity::info : Severity::warning;
  finding.evidence = {setting(name, value, range.unit, source::kParameters),
                      setting("legal", fmt::format("{} to {}", range.min, range.max), range.unit,
                              fmt::format("configs/nics/{}.toml", facts.port.nic))};
  finding.cause = fmt::format(
      "{} ({}) is {}, outside {} to {}: the kernel does not check it, and what the NIC does with it is "
      "undefined.",
      name, range.role, value, range.min, range.max);
  if (steers_nothing) finding.cause += " A programmable algorithm runs, so it has no effect now.";
  finding.fix =
      range.default_value
          ? change_settings(facts, fmt::format("Set {} to its default, {}.", name, *range.default_value),
                            set_parameter(facts, name, *range.default_value))
          : advise(fmt::format("Set {} to a value from {} to {}.", name, range.min, range.max));
  return finding;
}

Outcome judge_parameters(const PortFacts& facts) {
  Needs need;
  const auto* parameters = need(facts.port.cc_params, "cc_params");
  const host::CongestionControl* live = need(facts.port.congestion_control, "the live algorithm");
  const bool programmable = live != nullptr && *live == host::CongestionControl::programmable;
  if (parameters != nullptr) {
    std::vector<Finding> findings;
    for (const auto& [name, value] : *parameters) {
      const host::CcParameter* range = facts.nic->row.cc.find(name);
      if (range == nullptr || (value >= range->min && value <= range->max)) continue;
      findings.push_back(out_of_range(facts, name, value, *range, programmable));
    }
    if (!findings.empty()) return Outcome::found(std::move(findings));
  }
  if (programmable) {
    Finding finding;
    finding.severity = Severity::info;
    finding.evidence = {setting("congestion control", enum_name(*live), "", "firmware")};
    finding.cause = "A programmable algorithm steers this port: DCQCN parameters change nothing here.";
    finding.fix = advise("Do not tune cc_params; both ends need the same algorithm.");
    return Outcome::found(std::move(finding));
  }
  if (need.missing()) return need.not_checked();
  return Outcome::passed({setting("congestion control", enum_name(*live), "", "firmware"),
                          setting("parameters in range", parameters->size(), "", source::kParameters)});
}

}  // namespace

bool is_paused_without_cnp(const PortFacts& facts, const counters::PortDelta& delta) {
  if (!facts.roce_class || is_control_off(facts)) return false;
  const auto handled = delta.increment("cnp_handled");
  if (!handled || *handled > 0) return false;
  for (const Pause& pause : pauses(delta)) {
    if (pause.side != PauseSide::received || pause.priority != facts.roce_class->priority) continue;
    return is_notable(pause, facts.policy) && !is_storm(pause, facts.policy);
  }
  return false;
}

std::span<const Rule> ecn_rules() {
  static constexpr Rule kRules[] = {
      {.id = "ECN-5",
       .title = "The live algorithm is known, and its parameters are legal",
       .condition =
           "Every cc_params value is in its range, and the algorithm that they steer is the one that runs.",
       .why = "The kernel checks no range, and on ConnectX-7 and later a programmable algorithm may run that "
              "these files do not steer.",
       .needs = "debugfs cc_params; which algorithm is live. Where the NIC may run one of its own, only its "
                "firmware knows: the reason says whether this kernel has fwctl to ask it by, which is not "
                "done here.",
       .decided = "Finding for each value outside its range; info instead if a programmable algorithm runs. "
                  "Not checked if all that can be read is legal and something cannot be read.",
       .fix = "Write the default; leave cc_params alone where they steer nothing.",
       .source = "Linux hw/mlx5/cong.c; mstflint mlxconfig database; NVIDIA DOCA DCQCN parameters",
       .gates = {},
       .judge = judge_parameters},
      {.id = "ECN-2",
       .title = "Both congestion-control points are on",
       .condition = "Notification and reaction point are on for the RoCE priority, and no CNP is ignored.",
       .why = "Either half alone does nothing.",
       .needs = "Vendor driver's sysfs ecn/; or cnp_handled and cnp_ignored over an interval in which CNPs "
                "arrived.",
       .decided =
           "Finding if a switch is off for the RoCE priority, or cnp_ignored rises (info if congestion "
           "control is off).",
       .fix = "Turn the point on.",
       .source = "ROCm/mori#658; Linux hw/mlx5/counters.c",
       .gates = {},
       .judge = judge_points},
      {.id = "ECN-3",
       .title = "The ECN path works",
       .condition = "CE marks lead to CNPs, and pause does not come without CNPs.",
       .why = "ECN has to act before PFC; where it is broken only pause is left.",
       .needs = "rx_ce_packets, cnp_sent, cnp_handled; pause of the RoCE priority.",
       .decided =
           "CE without CNP sent: the notification point is off. Paused by the network without a CNP "
           "handled: marking, receiver or CNP path (confidence medium). CNPs sent without CE counted is "
           "no contradiction on old firmware.",
       .fix = "Follow the path from ECT to CNP.",
       .source = "Zhu et al., SIGCOMM 2015; SONiC",
       .gates = {.idle_too = true, .texts_speak = true},
       .judge = judge_ecn_path},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
