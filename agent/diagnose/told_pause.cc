// Pause, as counters in texts show it.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"

namespace rocetune::diagnose {
namespace {

constexpr const char* kNoPauseCounters =
    "no pause counters are among the inputs (ethtool -S with pause rows, or dcb -s pfc): which side pauses "
    "is not known";

// Pauses of a port: per priority and global, or, where neither is shown, MAC control frames of either kind.
std::vector<Pause> told_pauses(const CountedPort& port) {
  std::vector<Pause> out = pauses(port.delta);
  for (const PauseSide side : {PauseSide::received, PauseSide::sent}) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Pause& p) { return p.side == side; });
    const char* const name = side == PauseSide::received ? "rx_pause_ctrl_frames" : "tx_pause_ctrl_frames";
    if (known || !port.count(name)) continue;
    out.push_back(
        {std::nullopt, side, std::nullopt, port.count(name), port.elapsed.value_or(Duration(0)), {}});
  }
  return out;
}

std::vector<Evidence> pause_shown(const CountedPort& port, const Pause& pause) {
  const char* const side = pause.side == PauseSide::received ? "rx" : "tx";
  std::vector<Evidence> out;
  for (const char* const what : {"pause_frames", "pause_duration_us", "pause_transitions"}) {
    const std::string name = fmt::format("{}_{}{}", side, pause.priority ? "" : "global_", what);
    if (port.count(name, pause.priority)) out.push_back(port.evidence(name, pause.priority));
  }
  const std::string control = fmt::format("{}_pause_ctrl_frames", side);
  if (out.empty() && port.count(control)) out.push_back(port.evidence(control));
  if (pause.share && port.elapsed) {
    out.push_back(
        {pause.side == PauseSide::received ? "time paused by the network" : "time pausing the network",
         fmt::format("{:.1f}", pause.share->percent()), "%", port.span()});
  }
  return out;
}

std::string what_is_held(const Pause& pause) {
  return pause.priority ? pause.subject() : std::string("the whole link");
}

std::string rate_text(const CountedPort& port, const Pause& pause) {
  if (!pause.frames || !port.elapsed || port.elapsed->seconds() <= 0) return "";
  return fmt::format(", {:.0f} frames a second",
                     static_cast<double>(*pause.frames) / port.elapsed->seconds());
}

// ---- PFC-1 ----

bool has_known_setting(const DossierFacts& facts) {
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (port.port.pause) return true;
    }
  }
  return false;
}

Outcome judge_told_global_pause(const DossierFacts& facts) {
  if (has_known_setting(facts))
    return Outcome::not_checked("the pause settings themselves are known: see the ports");
  return judge_counted(
      facts, "neither pause settings (ethtool -a) nor global pause counters are among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        std::vector<Evidence> seen = port.all({"rx_global_pause_frames", "tx_global_pause_frames"});
        if (seen.empty()) return;
        bool notable = false;
        std::uint64_t frames = 0;
        for (const Pause& pause : told_pauses(port)) {
          if (pause.priority) continue;
          notable |= is_notable_told(port, pause, facts.policy);
          frames += pause.frames.value_or(0);
        }
        if (frames == 0) {
          append(good, std::move(seen));
          return;
        }
        Finding finding;
        finding.subject = port.subject() + " global pause";
        finding.severity = notable ? Severity::warning : Severity::info;
        finding.confidence = Confidence::medium;
        finding.evidence = std::move(seen);
        finding.cause = fmt::format(
            "802.3x pause is at work: it stops the whole link where PFC would stop one priority, and it "
            "shows in no drop counter.{}",
            total_caution(port));
        finding.fix = advise(
            "Turn 802.3x pause off and PFC on for the RoCE priority alone, on this port and its switch port.",
            {fmt::format("ethtool -A {} rx off tx off", port.device.empty() ? "IF" : port.device)});
        findings.push_back(std::move(finding));
      });
}

// ---- PFC-5 ----

Outcome judge_told_storm(const DossierFacts& facts) {
  std::string reason = kNoPauseCounters;
  const auto judge = [&](const CountedPort& port, std::vector<Finding>& findings,
                         std::vector<Evidence>& good) {
    for (const Pause& pause : told_pauses(port)) {
      if (!pause.share || !port.elapsed) {
        reason =
            port.is_total
                ? "one dump has no interval: a storm is paused time over measured time, take a second dump"
                : "paused time or the time between the two dumps is not known: a storm is one over the other";
        continue;
      }
      if (!is_storm(pause, facts.policy)) {
        append(good, pause_shown(port, pause));
        continue;
      }
      Finding finding;
      finding.severity = Severity::critical;
      finding.subject = port.subject() + " " + pause.subject();
      finding.evidence = pause_shown(port, pause);
      const bool received = pause.side == PauseSide::received;
      finding.cause =
          fmt::format("Pause storm {}: {} was held {:.1f} % of {:.1f} s.",
                      received ? "from the network, the pauser is downstream" : "made by this host",
                      pause.subject(), pause.share->percent(), port.elapsed->seconds());
      finding.fix =
          advise(received ? "Follow the switch port whose received PFC counter runs to the host that sends "
                            "pause without end; take it off the fabric; have PFC watchdogs on."
                          : "Take this port out of the job; look for a hung process or driver, a stalled "
                            "PCIe link, firmware errors (dmesg); reset the NIC if it does not recover.");
      findings.push_back(std::move(finding));
    }
    const std::uint64_t stalls = port.known("pause_storm_errors");
    if (stalls > 0) {
      Finding finding;
      finding.severity = port.is_total ? Severity::info : Severity::critical;
      finding.confidence = port.is_total ? Confidence::low : Confidence::medium;
      finding.subject = port.subject();
      finding.evidence = port.all({"pause_storm_errors", "pause_storm_warnings"});
      finding.cause = fmt::format(
          "The NIC's own watchdog saw this host stall and stopped its pause frames {}: what arrived then was "
          "lost.{}",
          port.span(), total_caution(port));
      finding.fix =
          advise("Look for what stalls this host's receive side: hung process, driver, PCIe, firmware.");
      findings.push_back(std::move(finding));
    }
  };
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const CountedPort& port : facts.counted) judge(port, findings, good);
  return Outcome::of(std::move(findings), std::move(good), reason);
}

// ---- PFC-6 ----

std::vector<Evidence> stall_shown(const CountedPort& port) {
  return port.all({"pci_stalled_read_seconds", "pci_stalled_write_seconds", "pci_buffer_overflow",
                   "rx_buffer_passed_threshold", "rx_out_of_buffer", "no_receive_wqe"});
}

bool has_counts_above_zero(const Evidence& evidence) { return evidence.value != "0"; }

Finding told_direction(const CountedPort& port, const Pause& pause) {
  Finding finding;
  finding.subject = port.subject() + " " + pause.subject();
  finding.evidence = pause_shown(port, pause);
  std::vector<Evidence> why = stall_shown(port);
  std::erase_if(why, [](const Evidence& e) { return !has_counts_above_zero(e); });
  if (pause.side == PauseSide::received) {
    // Some pause received is how a lossless class works; of totals nothing says when it was.
    if (port.is_total) finding.severity = Severity::info;
    finding.confidence = port.is_total ? Confidence::low : Confidence::high;
    finding.cause = fmt::format(
        "The network holds {} of this port ({}{}): congestion is downstream or at the peer, this host is its "
        "victim.{}",
        what_is_held(pause), port.span(), rate_text(port, pause), total_caution(port));
    finding.fix = advise(
        "Look downstream: the switch port this host sends to, and whether its receiver pauses (pause sent, "
        "tx); ECN thresholds that act before PFC keep pause rare.");
    return finding;
  }
  finding.confidence = !why.empty() ? Confidence::high : Confidence::medium;
  finding.cause = fmt::format(
      "This host pauses its switch port ({}{}): it drains {} slower than traffic arrives{}. No drops does "
      "not mean healthy: the loss has moved upstream.{}",
      port.span(), rate_text(port, pause), what_is_held(pause),
      why.empty() ? "; no counter shown says where it stalls"
                  : fmt::format("; {} points inside it", why[0].name),
      total_caution(port));
  append(finding.evidence, std::move(why));
  finding.fix = advise(
      "Look inside this host, not at the network: PCIe width, speed and MaxReadReq (PCIE-1), ACS and IOMMU "
      "(PCIE-2), NUMA placement of buffers and processes (HOST-2), receive requests posted in time (LOSS-2). "
      "If many send to it at once it is incast: ECN has to act first.");
  return finding;
}

Outcome judge_told_direction(const DossierFacts& facts) {
  return judge_counted(
      facts, kNoPauseCounters,
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        for (const Pause& pause : told_pauses(port)) {
          if (is_notable_told(port, pause, facts.policy)) {
            if (!is_storm(pause, facts.policy)) findings.push_back(told_direction(port, pause));
          } else {
            append(good, pause_shown(port, pause));
          }
        }
      });
}

// ---- PFC-7 ----

Outcome judge_told_deadlock(const DossierFacts& facts) {
  return judge_counted(
      facts, "no pause durations of two moments a known time apart are among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        const std::vector<Pause> seen = told_pauses(port);
        for (const Pause& held : seen) {
          if (!held.share || held.side != PauseSide::received) continue;
          const auto holding = std::find_if(seen.begin(), seen.end(), [&](const Pause& p) {
            return p.side == PauseSide::sent && p.priority == held.priority && p.share;
          });
          if (holding == seen.end()) continue;
          std::vector<Evidence> both = pause_shown(port, held);
          append(both, pause_shown(port, *holding));
          if (!is_storm(held, facts.policy) || !is_storm(*holding, facts.policy)) {
            append(good, std::move(both));
            continue;
          }
          Finding finding;
          finding.severity = Severity::info;
          finding.confidence = Confidence::low;
          finding.subject = port.subject() + " " + held.subject();
          finding.evidence = std::move(both);
          finding.cause =
              "The port is paused and pauses without end, as in a PFC deadlock; a host cannot prove the "
              "cycle of buffers that takes.";
          finding.fix = advise(
              "Check the switches for a cycle of paused ports (routing loop, flooding, up-down-up paths).");
          findings.push_back(std::move(finding));
        }
      });
}

// ---- HOST-2 ----

// Nothing was dropped on receive, as far as drops are counted; nothing if they are not.
std::optional<bool> drops_nothing(const CountedPort& port) {
  const auto discards = port.count("rx_discards_phy");
  const auto priorities = port.sum("rx_discards");
  if (!discards && !priorities) return std::nullopt;
  return discards.value_or(0) + priorities.value_or(0) == 0;
}

Outcome judge_told_slow_host(const DossierFacts& facts) {
  return judge_counted(
      facts, "pause sent beside drop counters, or rates by core, socket or NIC, are not among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        const auto clean = drops_nothing(port);
        if (!clean) return;
        for (const Pause& pause : told_pauses(port)) {
          if (pause.side != PauseSide::sent) continue;
          std::vector<Evidence> seen = pause_shown(port, pause);
          append(seen, port.all({"rx_discards_phy"}));
          if (!is_notable_told(port, pause, facts.policy) || !*clean) {
            append(good, std::move(seen));
            continue;
          }
          Finding finding;
          finding.severity = Severity::info;  // the finding itself is PFC-6
          finding.confidence = Confidence::medium;
          finding.subject = port.subject();
          finding.evidence = std::move(seen);
          finding.cause = "The NIC pauses its link and drops nothing: the host behind it is what is slow.";
          finding.fix = advise(
              "Bind processes and buffers to the NIC's own NUMA node, check BIOS (NPS, preferred I/O), "
              "relaxed ordering and memory bandwidth, then PCIe stalls; counters of stalls at 0 do not clear "
              "PCIe.");
          findings.push_back(std::move(finding));
        }
      });
}

}  // namespace

std::span<const Rule> told_pause_rules() {
  static constexpr Rule kRules[] = {
      {.id = "PFC-1",
       .title = "802.3x pause is not at work (pasted counters)",
       .condition = "No global pause frames are counted.",
       .why = "It stops every class at once and hides in no drop counter.",
       .needs = "ethtool -S with rx_/tx_global_pause or the driver's name for it.",
       .decided = "Only where the settings themselves (ethtool -a) are not known. Info below what PFC-6 "
                  "calls notable.",
       .fix = "Pause off, PFC on for the RoCE priority alone.",
       .source = "NVIDIA/daqiri#250, #252; Linux drivers/net/ethernet (statistics of each driver)",
       .gates = {},
       .judge = judge_told_global_pause},
      {.id = "PFC-5",
       .title = "No pause storm (pasted counters)",
       .condition =
           "No priority is paused 99 % of at least 200 ms, and the NIC's stall watchdog did not act.",
       .why = "A storm stops the class, spreads from switch to switch, and does not end by itself.",
       .needs = "Pause durations of two dumps whose distance in time is known.",
       .decided = "Paused time over time between the dumps. One dump, or frames without time, prove no "
                  "storm: not checked. Events of the NIC's stall watchdog since boot are info.",
       .fix = "Received: find the pauser downstream. Sent: this host hangs.",
       .source = "SONiC pfc_detect_*.lua; Linux mlx5 counters documentation",
       .gates = {},
       .judge = judge_told_storm},
      {.id = "PFC-6",
       .title = "Pause is rare, and its direction says whose it is (pasted counters)",
       .condition = "Pause stays below 1 % of the time, or 100 frames a second, in both directions.",
       .why = "Pause sent means that this host drains slowly; pause received means that the network or the "
              "peer does. The cures are elsewhere.",
       .needs = "Pause rows of ethtool -S, or requests and indications of dcb -s pfc; two dumps for a rate.",
       .decided =
           "Two dumps: by share of time or frames a second; where their distance is not known, from 100 "
           "frames on. One dump: from 10 s on, or 10000 frames where no time is counted, and said to be a "
           "total; received it is info then. Absent rows are no zeros: PFC is then off for that priority.",
       .fix = "Sent: PCIe, NUMA, receive queues of this host. Received: downstream.",
       .source = "Linux mlx5 counters documentation; IEEE 802.1Qbb",
       .gates = {},
       .judge = judge_told_direction},
      {.id = "PFC-7",
       .title = "No sign of a PFC deadlock (pasted counters)",
       .condition = "No priority is in a storm in both directions at once.",
       .why = "A cycle of paused buffers never dissolves.",
       .needs = "Pause durations of both directions, of two dumps whose distance in time is known.",
       .decided = "Info with low confidence: a host cannot prove the cycle.",
       .fix = "Look for the cycle on the switches.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {},
       .judge = judge_told_deadlock},
      {.id = "HOST-2",
       .title = "No NIC pauses its link while it drops nothing (pasted counters)",
       .condition = "Pause sent is rare, or drops explain it.",
       .why = "The host behind the NIC is then the slow part: NUMA, BIOS, memory, PCIe.",
       .needs = "Pause sent and receive drops of the same port.",
       .decided = "Info beside PFC-6, which is the finding: where in the host to look.",
       .fix = "Bind to the NIC's NUMA node; BIOS, relaxed ordering, memory bandwidth.",
       .source = "open-mpi/ompi#6888, openucx/ucx#7449",
       .gates = {},
       .judge = judge_told_slow_host},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
