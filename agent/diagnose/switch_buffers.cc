// Thresholds, timers and sizes of switches: ECN against PFC, headroom, watchdog against NIC, MTU, shares.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/switch_facts.h"
#include "congestion/headroom.h"

namespace rocetune::diagnose {
namespace {

using evidence::SwitchBuffer;
using evidence::SwitchQueue;
using evidence::SwitchSettings;
using evidence::SwitchSystem;

std::vector<Priority> lossless_of(const SwitchSettings& settings) {
  std::vector<Priority> out;
  for (int p = 0; settings.pfc && p < 8; ++p) {
    if (settings.pfc->contains(Priority(p))) out.emplace_back(p);
  }
  return out;
}

const SwitchQueue* queue_for(const SwitchSettings& settings, Priority priority) {
  const auto found = settings.queues.find(queue_of(settings, priority));
  return found == settings.queues.end() ? nullptr : &found->second;
}
const SwitchBuffer* buffer_for(const SwitchSettings& settings, Priority priority) {
  const auto found = settings.buffers.find(priority);
  return found == settings.buffers.end() ? nullptr : &found->second;
}

Finding ports_finding(const SwitchText& text, const SwitchPorts& ports, std::vector<Evidence> evidence,
                      std::string cause, Fix fix) {
  Finding finding;
  finding.subject = subject_of(text, ports);
  finding.evidence = std::move(evidence);
  finding.cause = std::move(cause);
  finding.fix = std::move(fix);
  return finding;
}

// ---- ECN-1 ----

// The most that one port's priority may hold before it sends Xoff, when nothing else fills the pool: a static
// threshold, or alpha/(1+alpha) of the pool.
std::optional<Bytes> pause_threshold(const SwitchBuffer& buffer) {
  if (buffer.pause_from) return buffer.pause_from;
  if (!buffer.alpha_exponent || !buffer.pool) return std::nullopt;
  const std::int64_t pool = buffer.pool->count();
  const int exponent = *buffer.alpha_exponent;
  if (pool > (std::int64_t{1} << 48)) return std::nullopt;
  return exponent >= 0 ? Bytes(pool / ((std::int64_t{1} << exponent) + 1) * (std::int64_t{1} << exponent))
                       : Bytes(pool / ((std::int64_t{1} << -exponent) + 1));
}

Finding ecn_finding(const SwitchText& text, const SwitchPorts& ports, std::vector<Evidence> evidence,
                    std::string cause, std::string fix) {
  Finding finding = ports_finding(text, ports, std::move(evidence), std::move(cause), advise(std::move(fix)));
  finding.confidence = Confidence::medium;
  return finding;
}

void judge_queue_ecn(const SwitchText& text, const SwitchPorts& ports, Priority priority,
                     std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const SwitchQueue* queue = queue_for(ports.settings, priority);
  if (queue == nullptr) return;
  const std::string name = fmt::format("queue of priority {}", priority.value());
  if (queue->marks == std::optional(false)) {
    findings.push_back(
        ecn_finding(text, ports, {switch_setting(text, ports, "ecn", "ECN in the " + name, "off")},
                    "The lossless queue does not mark: pause is the only brake, and DCQCN never acts.",
                    "Give the lossless queue a profile that marks (ECN), well below the PFC threshold."));
    return;
  }
  if (!queue->mark_from) return;
  std::vector<Evidence> evidence{
      switch_setting(text, ports, "ecn", "Kmin in the " + name, queue->mark_from->count(), "B")};
  if (queue->mark_all) {
    evidence.push_back(
        switch_setting(text, ports, "ecn", "Kmax in the " + name, queue->mark_all->count(), "B"));
    if (*queue->mark_all < *queue->mark_from) {
      findings.push_back(
          ecn_finding(text, ports, std::move(evidence), "Kmin is above Kmax.",
                      "Put Kmin below Kmax: marking begins at Kmin and is at its most at Kmax."));
      return;
    }
  }
  const SwitchBuffer* buffer = buffer_for(ports.settings, priority);
  const auto pause = buffer == nullptr ? std::nullopt : pause_threshold(*buffer);
  if (pause) {
    evidence.push_back(switch_setting(text, ports, "buffer", "PFC threshold at most", pause->count(), "B"));
    if (*queue->mark_from >= *pause) {
      findings.push_back(
          ecn_finding(text, ports, std::move(evidence),
                      fmt::format("Marking begins at {} and PFC at {} at the latest: one sender is paused "
                                  "before it is ever marked.",
                                  to_text(*queue->mark_from), to_text(*pause)),
                      "Lower Kmin well below the PFC threshold, or raise the threshold (alpha)."));
      return;
    }
  }
  append(good, std::move(evidence));
}

Outcome judge_switch_ecn(const DossierFacts& facts) {
  return judge_switches(facts, SwitchAspect::queues,
                        "no switch says at which length the queue of a lossless priority marks",
                        [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
                            std::vector<Evidence>& good) {
                          for (const Priority priority : lossless_of(ports.settings))
                            judge_queue_ecn(text, ports, priority, findings, good);
                        });
}

// ---- PFC-3 ----

Outcome judge_switch_headroom(const DossierFacts& facts) {
  return judge_switches(
      facts, SwitchAspect::everything, "no switch says headroom, speed and cable of a lossless priority",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        const SwitchSettings& s = ports.settings;
        if (!s.speed || !s.cable) return;
        for (const auto& [priority, buffer] : s.buffers) {
          if (!buffer.headroom || (s.pfc && !s.pfc->contains(priority))) continue;
          SonicHeadroom model{.speed = *s.speed, .cable = *s.cable};
          if (s.mtu) model.port_mtu = *s.mtu;
          // What no peer's quickness can spare: the cable's content and one packet begun at each end.
          const Bytes least = model.on_cable() + model.port_mtu + model.lossless_mtu;
          std::vector<Evidence> evidence{
              switch_setting(text, ports, "buffer", fmt::format("headroom of priority {}", priority.value()),
                             buffer.headroom->count(), "B"),
              switch_setting(text, ports, "cable", "cable", s.cable->count(), "m"),
              switch_setting(text, ports, "speed", "speed", to_text(*s.speed))};
          if (*buffer.headroom >= least) {
            append(good, std::move(evidence));
            continue;
          }
          findings.push_back(ports_finding(
              text, ports, std::move(evidence),
              fmt::format("Headroom for {} holds less than what is on the way when Xoff is sent: the cable "
                          "alone and a packet at each end are {}. Lossless traffic is dropped when the port "
                          "pauses.",
                          to_text(*buffer.headroom), to_text(least)),
              advise("Take the buffer profile of this speed and cable length; compute it anew after a change "
                     "of either or of the MTU.")));
        }
      });
}

// ---- PFC-4 ----

constexpr std::uint16_t kNicAutomatic = 65535;  // PFC_STORM_PREVENTION_AUTO: 100 ms on mlx5

Outcome judge_watchdog_order(const DossierFacts& facts) {
  struct Nic {
    std::string who;
    std::int64_t ms;
  };
  std::vector<Nic> nics;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      const auto& value = port.port.pfc_prevention_ms;
      if (value && *value != 0) nics.push_back({port.port.name, *value == kNicAutomatic ? 100 : *value});
    }
  }
  return judge_switches(
      facts, SwitchAspect::everything,
      "the time after which a NIC gives up pausing and a switch's detection time are not both known",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        const auto& watchdog = ports.settings.watchdog;
        if (!watchdog || !watchdog->on || !watchdog->detection) return;
        const Evidence shown_detection = switch_setting(
            text, ports, "watchdog", "detection time of the switch", to_text(*watchdog->detection));
        for (const Nic& nic : nics) {
          std::vector<Evidence> evidence{
              shown_detection, setting("stall prevention of " + nic.who, nic.ms, "ms", source::kWatchdog)};
          if (milliseconds(nic.ms) < *watchdog->detection) {
            append(good, std::move(evidence));
            continue;
          }
          findings.push_back(ports_finding(
              text, ports, std::move(evidence),
              fmt::format("The NIC stops a storm of its own only after {} ms, the switch after {}: the "
                          "switch drops the lossless queue before the NIC gives up pausing.",
                          nic.ms, to_text(*watchdog->detection)),
              advise(fmt::format("Set the NIC's stall prevention below {}.", to_text(*watchdog->detection)),
                     {fmt::format("ethtool --set-tunable {} pfc-prevention-tout 100", nic.who)})));
        }
      });
}

// ---- PATH-1 ----

// IPv6, UDP, BTH, RETH, ICRC of the largest packet.
constexpr std::int64_t kPacketOverhead = 40 + 8 + 12 + 16 + 4;

Outcome judge_switch_mtu(const DossierFacts& facts) {
  std::optional<Bytes> largest;
  std::string who;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      const host::RdmaPort* rdma = port.rdma();
      if (rdma == nullptr || !rdma->active_mtu || (largest && *rdma->active_mtu <= *largest)) continue;
      largest = *rdma->active_mtu;
      who = rdma->device;
    }
  }
  return judge_switches(
      facts, SwitchAspect::everything,
      "the MTU of a switch's port and of a host's RDMA device are not both known",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        if (!ports.settings.mtu || !largest) return;
        std::vector<Evidence> evidence{
            switch_setting(text, ports, "mtu", "MTU of the port", ports.settings.mtu->count(), "B"),
            setting("RDMA MTU of " + who, largest->count(), "B", source::kRdma)};
        if (ports.settings.mtu->count() >= largest->count() + kPacketOverhead) {
          append(good, std::move(evidence));
          return;
        }
        findings.push_back(ports_finding(
            text, ports, std::move(evidence),
            fmt::format(
                "Packets with {} B of data do not fit into this port's MTU of {}: small ones pass and "
                "full ones vanish.",
                largest->count(), to_text(*ports.settings.mtu)),
            advise("Raise the MTU of every port on the way to 9216.")));
      });
}

// ---- ETS-1 ----

Outcome judge_switch_shares(const DossierFacts& facts) {
  return judge_switches(
      facts, SwitchAspect::queues, "no switch says shares of its queues and which priority is lossless",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        int total = 0;
        for (const auto& [number, queue] : ports.settings.queues) total += queue.share_percent.value_or(0);
        int lossless = 0;
        bool known = false;
        Evidence evidence;
        for (const Priority priority : lossless_of(ports.settings)) {
          const SwitchQueue* queue = queue_for(ports.settings, priority);
          if (queue == nullptr || !queue->share_percent) continue;
          known = true;
          lossless += *queue->share_percent;
          evidence = switch_setting(
              text, ports, fmt::format("queue {}", queue_of(ports.settings, priority).value()),
              fmt::format("share of priority {}", priority.value()), *queue->share_percent, "%");
        }
        if (!known) return;
        const bool starves = lossless == 0 && total > 0;
        // Weights of SONiC count against each other, not to 100.
        const bool small = text.model().system != SwitchSystem::sonic &&
                           lossless < static_cast<int>(facts.policy.minimum_ets_share.percent());
        if (total <= 102 && !starves && !small) {
          good.push_back(std::move(evidence));
          return;
        }
        Finding finding = ports_finding(
            text, ports,
            {std::move(evidence), switch_setting(text, ports, "", "all shares together", total, "%")},
            total > 102 ? "The shares of the queues are more than 100 % together."
            : starves   ? "The lossless queue has no share: under load it gets what the others leave."
                        : "The lossless queue has less than half of the bandwidth.",
            advise("Give the RoCE queue 50 to 90 %, CNPs strict priority, and the rest to the others."));
        finding.severity = total > 102 || starves ? Severity::warning : Severity::info;
        findings.push_back(std::move(finding));
      });
}

}  // namespace

std::span<const Rule> switch_buffer_rules() {
  static constexpr Rule kRules[] = {
      {.id = "PFC-3",
       .title = "Headroom of the switch fits speed, cable and MTU",
       .condition = "The headroom of a lossless priority holds the cable's content, a packet begun at each "
                    "end included.",
       .why = "What arrives after Xoff finds no room and is dropped.",
       .needs = "Headroom, speed and cable length of a port (SONiC's BUFFER_PROFILE, PORT, CABLE_LENGTH).",
       .decided = "Warning below that least amount; the peer's own delay comes on top and is not judged.",
       .fix = "The buffer profile of this speed and length.",
       .source = "sonic-swss cfgmgr/buffer_headroom_mellanox.lua; IEEE 802.1Qbb",
       .gates = {},
       .judge = judge_switch_headroom},
      {.id = "PFC-4",
       .title = "The NIC gives up pausing before the switch drops",
       .condition =
           "The NIC's stall prevention is shorter than the detection time of the switch's PFC watchdog.",
       .why = "Else the switch drops the whole lossless queue because one host hangs.",
       .needs = "Detection time of the switch; pfc-prevention-tout of a host's port.",
       .decided = "Warning if the NIC's time is not shorter. 65535 (automatic) counts as 100 ms.",
       .fix = "pfc-prevention-tout.",
       .source = "Linux ETHTOOL_PFC_PREVENTION_TOUT; SONiC pfcwd (200 ms); the order is our inference",
       .gates = {},
       .judge = judge_watchdog_order},
      {.id = "ECN-1",
       .title = "The switch marks before it pauses",
       .condition = "The queue of a lossless priority marks, Kmin is below Kmax and below the PFC threshold.",
       .why = "Where PFC acts first, senders are never told to slow down, and pauses spread.",
       .needs = "Marking thresholds of a lossless queue; the PFC threshold, where it is to be compared.",
       .decided = "Warning where ECN is off, Kmin above Kmax, or Kmin at or above the threshold of one port "
                  "with the pool "
                  "to itself (static, or alpha/(1+alpha) of the pool).",
       .fix = "Kmin, or alpha.",
       .source = "DCQCN, SIGCOMM 2015, section 4; SONiC WRED_PROFILE and BUFFER_PROFILE",
       .gates = {},
       .judge = judge_switch_ecn},
      {.id = "PATH-1",
       .title = "Ports of the switch let full RDMA packets pass",
       .condition = "The MTU of each port is at least the RDMA MTU and 80 B of headers.",
       .why = "Small packets pass and full ones vanish, without an error anywhere.",
       .needs = "MTU of a switch's ports; active MTU of an RDMA device.",
       .decided = "Warning below.",
       .fix = "MTU 9216 on every port of the path.",
       .source = "InfiniBand annex A17; NVIDIA/nccl#1524",
       .gates = {},
       .judge = judge_switch_mtu},
      {.id = "ETS-1",
       .title = "The switch's lossless queue has its share",
       .condition = "Shares total 100 %, and the lossless queue has at least the policy's share.",
       .why = "Under load a queue gets its share and no more.",
       .needs = "Shares of a switch's queues; its lossless priority.",
       .decided = "Warning for a share of 0 or a total above 100 %; info below the policy's minimum share.",
       .fix = "Shares.",
       .source = "IEEE 802.1Qaz; vendor defaults",
       .gates = {},
       .judge = judge_switch_shares},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
