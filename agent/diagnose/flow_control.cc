#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/ecn.h"
#include "agent/diagnose/engine.h"
#include "agent/diagnose/pause.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

constexpr std::uint16_t kWatchdogOff = 0;
constexpr std::uint16_t kWatchdogAuto = 65535;  // ETHTOOL: PFC_STORM_PREVENTION_AUTO, 100 ms on mlx5

// ---- PFC-1 ----

std::string on_off(bool on) { return on ? "on" : "off"; }

Outcome judge_global_pause(const PortFacts& facts) {
  Needs need;
  const host::GlobalPause* pause = need(facts.port.pause, "802.3x pause");
  if (pause == nullptr) return need.not_checked();
  std::vector<Evidence> evidence{setting("802.3x pause rx", on_off(pause->receive), "", source::kPause),
                                 setting("802.3x pause tx", on_off(pause->transmit), "", source::kPause)};
  if (facts.port.dcb.pfc) {
    evidence.push_back(setting("PFC priorities", to_text(facts.port.dcb.pfc->enabled), "", source::kPfc));
  }
  if (!has_global_pause(facts)) return Outcome::passed(std::move(evidence));

  Finding finding;
  finding.evidence = std::move(evidence);
  std::vector<Wanted> changes = set_global_pause(facts, false);
  std::string text = "Turn 802.3x pause off";
  const bool pfc_is_off = facts.port.dcb.pfc && facts.port.dcb.pfc->enabled.is_empty();
  if (pfc_is_off && !is_lossy_on_purpose(facts)) {
    const Priority p = facts.roce_class ? facts.roce_class->priority
                                        : facts.declared.priority.value_or(facts.policy.plan.data_priority);
    text += fmt::format(" and PFC on for priority {}", p.value());
    changes = join(std::move(changes), set_pfc(facts, PrioritySet::of(p)));
    finding.cause =
        "802.3x pause stands in for PFC: one slow receiver stops the whole link, CNPs and management "
        "included.";
  } else {
    finding.cause =
        "802.3x pause is on beside a RoCE class: it stops the whole link where PFC would stop one priority, "
        "and it shows in no drop counter.";
  }
  finding.fix = change_settings(facts, text + ", on this port and its switch port.", std::move(changes));
  return Outcome::found(std::move(finding));
}

// ---- PFC-4 ----

Outcome judge_watchdog(const PortFacts& facts) {
  Needs need;
  const std::uint16_t* ms = need(facts.port.pfc_prevention_ms, "pfc-prevention-tout");
  if (ms == nullptr) return need.not_checked();
  const Evidence seen = *ms == kWatchdogAuto ? setting("pfc-prevention-tout", "auto", "", source::kWatchdog)
                                             : setting("pfc-prevention-tout", *ms, "ms", source::kWatchdog);
  const auto auto_value = [&] {
    return std::vector<Wanted>{
        {{facts.port.name, host::KnobKind::pfc_prevention, ""}, std::int64_t{kWatchdogAuto}}};
  };
  Finding finding;
  finding.evidence = {seen};
  if (*ms == kWatchdogOff) {
    finding.cause =
        "The NIC's stall watchdog is off: if this host hangs, its pause frames stop the fabric for as long "
        "as it hangs.";
    finding.fix = change_settings(facts, "Set the watchdog to its default (auto, 100 ms).", auto_value());
    return Outcome::found(std::move(finding));
  }
  const Duration limit = facts.policy.storm_detection;
  if (*ms != kWatchdogAuto && milliseconds(*ms) >= limit) {
    finding.severity = Severity::info;
    finding.confidence = Confidence::medium;
    finding.cause = fmt::format(
        "The NIC's stall watchdog acts after {} ms, not before a switch's usual {}: the switch will discard "
        "first.",
        *ms, to_text(limit));
    finding.fix = change_settings(facts, "Set the watchdog to its default (auto, 100 ms).", auto_value());
    return Outcome::found(std::move(finding));
  }
  return Outcome::passed({seen});
}

// ---- PFC-5 ----

std::vector<Evidence> all_evidence(const std::vector<Pause>& seen) {
  std::vector<Evidence> out;
  for (const Pause& pause : seen) {
    out.insert(out.end(), pause.evidence.begin(), pause.evidence.end());
  }
  return out;
}

bool is_silent(const std::vector<Pause>& seen) {
  return std::all_of(seen.begin(), seen.end(), [](const Pause& p) {
    return p.frames.value_or(0) == 0 && p.share.value_or(Ratio(0)).is_zero();
  });
}

// The pauses to judge, or why there is no verdict: none counted, or nothing at all happened.
tl::expected<std::vector<Pause>, std::string> pauses_to_judge(const PortFacts& facts,
                                                              const counters::PortDelta& delta) {
  std::vector<Pause> seen = pauses(delta);
  if (seen.empty()) return tl::unexpected(why_no_pauses(facts));
  if (is_silent(seen)) {
    if (std::string why = why_no_traffic_verdict(facts, false); !why.empty())
      return tl::unexpected(std::move(why));
  }
  return seen;
}

Finding storm(const PortFacts& facts, const counters::PortDelta& delta, const Pause& pause) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.subject = pause.subject();
  finding.evidence = pause.evidence;
  const bool received = pause.side == PauseSide::received;
  for (Evidence& e : counters_seen(delta, {received ? "tx_packets" : "rx_packets"}, pause.priority)) {
    finding.evidence.push_back(std::move(e));
  }
  if (received) {
    finding.cause = fmt::format(
        "Pause storm from the network: {} of this port was held {:.1f} % of {:.1f} s; the pauser is "
        "downstream.",
        pause.subject(), pause.share->percent(), pause.elapsed.seconds());
    finding.fix = advise(
        "Find the receiver that sends pause without end: follow the switch port whose received PFC counter "
        "runs, to a host with pause sent (tx) near 100 %; take it off the fabric, and have PFC watchdogs on "
        "switches and NICs.");
  } else {
    for (Evidence& e : counters_seen(delta, {"pause_storm_warnings", "pause_storm_errors"})) {
      finding.evidence.push_back(std::move(e));
    }
    finding.cause = fmt::format(
        "Pause storm made here: this host held {} of its switch port {:.1f} % of {:.1f} s, it has stopped "
        "draining.",
        pause.subject(), pause.share->percent(), pause.elapsed.seconds());
    finding.fix = advise(
        "Take this port out of the job now; then look for a hung process or driver, a stalled PCIe link and "
        "firmware errors (dmesg), and reset the NIC if it does not recover.");
  }
  // Data that still moves in the paused direction contradicts a full stop.
  const auto moved = delta.increment(received ? "tx_packets" : "rx_packets", pause.priority);
  if (moved && *moved >= facts.policy.idle_below_packets) finding.confidence = Confidence::medium;
  return finding;
}

Outcome judge_storm(const PortFacts& facts, const counters::PortDelta& delta) {
  const auto seen = pauses_to_judge(facts, delta);
  if (!seen) return Outcome::not_checked(seen.error());
  std::vector<Finding> findings;
  for (const Pause& pause : *seen) {
    if (is_storm(pause, facts.policy)) findings.push_back(storm(facts, delta, pause));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  const bool timed =
      std::any_of(seen->begin(), seen->end(), [](const Pause& p) { return p.share.has_value(); });
  if (!timed) return Outcome::not_checked("this NIC counts pause frames but not their duration");
  const Duration elapsed = seen->front().elapsed;
  if (elapsed < facts.policy.storm_detection) {
    return Outcome::not_checked(
        fmt::format("the interval of {:.2f} s is shorter than the detection time of {}", elapsed.seconds(),
                    to_text(facts.policy.storm_detection)));
  }
  return Outcome::passed(all_evidence(*seen));
}

// ---- PFC-6 ----

// What on this host can make it drain slowly, as far as counters of the interval show it.
std::vector<Evidence> slow_receiver_evidence(const PortFacts& facts, const counters::PortDelta& delta) {
  std::vector<Evidence> out;
  for (const std::string_view level : {"pci_stalled_read_percent", "pci_stalled_write_percent"}) {
    if (delta.level(level).value_or(0) >= facts.policy.pcie_stall_percent)
      out.push_back(counter(delta, level));
  }
  for (const std::string_view name :
       {"pci_stalled_read_seconds", "pci_stalled_write_seconds", "pci_buffer_overflow",
        "rx_buffer_passed_threshold", "rx_out_of_buffer", "no_receive_wqe"}) {
    if (delta.increment(name).value_or(0) > 0) out.push_back(counter(delta, name));
  }
  return out;
}

Finding slow_receiver(const PortFacts& facts, const counters::PortDelta& delta, const Pause& pause) {
  Finding finding;
  finding.subject = pause.subject();
  finding.evidence = pause.evidence;
  const std::vector<Evidence> why = slow_receiver_evidence(facts, delta);
  finding.evidence.insert(finding.evidence.end(), why.begin(), why.end());
  finding.confidence = !why.empty() ? Confidence::high : Confidence::medium;
  finding.cause = fmt::format(
      "Slow receiver: this host pauses its switch port, so it drains {} slower than traffic arrives{}.",
      pause.subject(),
      why.empty() ? "; no host counter says where it stalls"
                  : fmt::format("; {} points inside the host", why[0].name));
  finding.fix = advise(
      "Look inside this host, not at the network: PCIe width, speed and MaxReadReq (PCIE-1), ACS and IOMMU "
      "(PCIE-2), NUMA placement of buffers and processes (HOST-2), receive work requests posted in time "
      "(LOSS-2).");
  return finding;
}

Finding slow_network(const counters::PortDelta& delta, const Pause& pause) {
  Finding finding;
  finding.subject = pause.subject();
  finding.evidence = pause.evidence;
  for (Evidence& e : counters_seen(delta, {"cnp_handled"})) finding.evidence.push_back(std::move(e));
  finding.confidence = pause.share ? Confidence::high : Confidence::medium;
  finding.cause = fmt::format(
      "The network holds {} of this port: congestion is downstream or at the peer, this host is a victim.",
      pause.subject());
  finding.fix = advise(
      "Look downstream: the switch port this host sends to, and whether its receiver pauses (pause sent, "
      "tx); ECN thresholds that act before PFC keep pause rare.");
  return finding;
}

Outcome judge_pause_direction(const PortFacts& facts, const counters::PortDelta& delta) {
  const auto seen = pauses_to_judge(facts, delta);
  if (!seen) return Outcome::not_checked(seen.error());
  std::vector<Finding> findings;
  std::string explained;
  for (const Pause& pause : *seen) {
    if (!is_notable(pause, facts.policy)) continue;
    if (is_storm(pause, facts.policy)) {
      explained = fmt::format("{} is in a storm: see PFC-5", pause.subject());
    } else if (pause.side == PauseSide::sent) {
      findings.push_back(slow_receiver(facts, delta, pause));
    } else if (is_paused_without_cnp(facts, delta)) {
      explained = "pause is received because congestion control does not act: see ECN-3";
    } else {
      findings.push_back(slow_network(delta, pause));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  return explained.empty() ? Outcome::passed(all_evidence(*seen)) : Outcome::not_checked(explained);
}

// ---- PFC-7 ----

Outcome judge_deadlock(const PortFacts& facts, const counters::PortDelta& delta) {
  const auto seen = pauses_to_judge(facts, delta);
  if (!seen) return Outcome::not_checked(seen.error());
  for (const Pause& held : *seen) {
    for (const Pause& holding : *seen) {
      if (held.side != PauseSide::received || holding.side != PauseSide::sent ||
          held.priority != holding.priority) {
        continue;
      }
      if (!is_storm(held, facts.policy) || !is_storm(holding, facts.policy)) continue;
      Finding finding;
      finding.severity = Severity::info;
      finding.confidence = Confidence::low;
      finding.subject = held.subject();
      finding.evidence = held.evidence;
      finding.evidence.insert(finding.evidence.end(), holding.evidence.begin(), holding.evidence.end());
      finding.cause =
          "The port is paused and pauses without end, as in a PFC deadlock; a host cannot prove the cycle of "
          "buffers that takes.";
      finding.fix = advise(
          "Check the switches for a cycle of paused ports (routing loop, flooding, up-down-up paths).");
      return Outcome::found(std::move(finding));
    }
  }
  return Outcome::passed(all_evidence(*seen));
}

}  // namespace

std::span<const Rule> flow_control_rules() {
  static constexpr Rule kRules[] = {
      {.id = "PFC-1",
       .title = "802.3x pause is off",
       .condition = "Link-level pause is off in both directions on a RoCE port.",
       .why =
           "It stops every class at once and hides in no drop counter; mlx5 and ice cannot do it beside PFC.",
       .needs = "ethtool pause parameters; PFC.",
       .decided =
           "Finding if either direction is on. Where the NIC cannot do both and PFC is off, this is the "
           "cause of the missing PFC, and MAP-3 is not reported beside it.",
       .fix = "Pause off, and PFC on where it is off.",
       .source = "NVIDIA/daqiri#250, #252; Linux mlx5/core/en_ethtool.c",
       .gates = {.any_nic = true},
       .judge = judge_global_pause},
      {.id = "PFC-4",
       .title = "The NIC's stall watchdog is on",
       .condition = "pfc-prevention-tout is auto, or on and below the switch's detection time.",
       .why = "Without it a hung host pauses its switch port for ever, and the switch its neighbours.",
       .needs = "ethtool tunable pfc-prevention-tout.",
       .decided = "Finding if 0; info if not below the usual detection time of switches.",
       .fix = "Set it to auto.",
       .source = "Linux mlx5/core/en_ethtool.c; SONiC pfcwd defaults",
       .gates = {},
       .judge = judge_watchdog},
      {.id = "PFC-5",
       .title = "No pause storm",
       .condition = "No priority is paused 99 % of an interval of at least 200 ms, in either direction.",
       .why = "A storm stops the class, spreads from switch to switch, and does not end by itself.",
       .needs = "Pause durations over an interval.",
       .decided =
           "Paused time over measured time, per priority and for 802.3x, each direction on its own. Time, "
           "not "
           "frames: one pause can be renewed for any length. Not checked on an idle port without pause.",
       .fix = "Received: find the pauser downstream. Sent: this host hangs.",
       .source = "SONiC pfc_detect_*.lua",
       .gates = {.idle_too = true, .texts_speak = true},
       .judge = judge_storm},
      {.id = "PFC-6",
       .title = "Pause is rare, and its direction says whose it is",
       .condition = "Pause stays below 1 % of the time in both directions.",
       .why = "Pause sent means that this host drains slowly; pause received means that the network or the "
              "peer does. The cures are elsewhere.",
       .needs =
           "Pause durations, or frames where no time is counted; PCIe stalls and receive-buffer counters "
           "as evidence.",
       .decided = "Sent: slow receiver, confidence high if a host counter points inside. Received: network, "
                  "unless no CNP came back (ECN-3). A storm is PFC-5's.",
       .fix = "Sent: PCIe, NUMA, receive queues of this host. Received: downstream.",
       .source = "Linux mlx5 counters documentation",
       .gates = {.idle_too = true, .texts_speak = true},
       .judge = judge_pause_direction},
      {.id = "PFC-7",
       .title = "No sign of a PFC deadlock",
       .condition = "No priority is in a storm in both directions at once.",
       .why = "A cycle of paused buffers never dissolves.",
       .needs = "Pause durations of both directions.",
       .decided =
           "Info with low confidence if both directions are in a storm: a host cannot prove the cycle.",
       .fix = "Look for the cycle on the switches.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {.idle_too = true, .texts_speak = true},
       .judge = judge_deadlock},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
