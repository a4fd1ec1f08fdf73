// What PFC watchdogs of switches saw, and whether PFC is in force on their ports.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/switch_facts.h"

namespace rocetune::diagnose {
namespace {

using evidence::PfcFrames;
using evidence::PfcState;
using evidence::QueueTraffic;
using evidence::WatchdogQueue;

// ---- SW-1, PFC-5 ----

// A watchdog's queue in one text, texts in the order of their phases.
struct WatchdogShown {
  const evidence::Document* document;
  const WatchdogQueue* queue;
};
using WatchdogHistory = std::map<std::pair<std::string, int>, std::vector<WatchdogShown>>;

WatchdogHistory watchdog_history(const DossierFacts& facts) {
  WatchdogHistory out;
  for (const SwitchText& text : switch_texts(facts)) {
    for (const WatchdogQueue& queue : text.evidence->watchdog)
      out[{queue.port, queue.queue}].push_back({text.document, &queue});
  }
  for (auto& [key, rows] : out) {
    std::ranges::stable_sort(rows, {}, [](const WatchdogShown& row) { return row.queue->detected; });
  }
  return out;
}

bool has_storms(const std::vector<WatchdogShown>& rows) {
  return std::ranges::any_of(rows, [](const WatchdogShown& row) {
    return row.queue->detected > 0 || row.queue->tx_drop > 0 || row.queue->rx_drop > 0;
  });
}

std::vector<Evidence> watchdog_evidence(const std::vector<WatchdogShown>& rows) {
  std::vector<Evidence> out;
  for (const WatchdogShown& row : rows) {
    const WatchdogQueue& q = *row.queue;
    const int line = q.line;
    out.push_back(shown("storms detected/restored",
                        fmt::format("{}/{} ({})", q.detected, q.restored, q.status), "", *row.document,
                        line));
    if (q.tx_drop > 0)
      out.push_back(shown("dropped by the watchdog, sent", q.tx_drop, "packets", *row.document, line));
    if (q.rx_drop > 0)
      out.push_back(shown("dropped by the watchdog, received", q.rx_drop, "packets", *row.document, line));
    if (out.size() >= 8) break;
  }
  return out;
}

Outcome judge_switch_watchdog(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [key, rows] : watchdog_history(facts)) {
    const auto& [port, number] = key;
    if (!has_storms(rows)) {
      good.push_back(shown(fmt::format("storms on {} queue {}", port, number), 0, "", *rows.back().document,
                           rows.back().queue->line));
      continue;
    }
    const WatchdogQueue& last = *rows.back().queue;
    const bool is_stormed = last.status == "stormed";
    const std::uint64_t dropped = last.tx_drop + last.rx_drop;
    Finding finding;
    finding.severity = is_stormed || dropped > 0 ? Severity::critical : Severity::warning;
    finding.subject = fmt::format("{} queue {}", port, number);
    finding.evidence = watchdog_evidence(rows);
    finding.cause = fmt::format(
        "What hangs on {} paused queue {} without end: the PFC watchdog found {} storm{}{}{}. This loss is "
        "made by "
        "the watchdog's action, not by full buffers.",
        port, number, last.detected, last.detected == 1 ? "" : "s",
        dropped > 0 ? fmt::format(" and dropped {} packets", dropped) : "",
        is_stormed ? ", and the last is not over" : "");
    finding.fix = advise(fmt::format(
        "Look at the neighbour on {0}: a slow or hung receiver, PCIe stalls, its own sent pause frames "
        "(PFC-6). Set "
        "its NIC's stall prevention below the watchdog's detection time (PFC-4). Do not enlarge buffers.",
        port));
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no output of a switch's PFC watchdog (show pfcwd stats) among the inputs");
}

// PFC frames that texts count as received, by port.
using FramesReceived = std::map<std::string, std::vector<const PfcFrames*>>;
FramesReceived frames_received(const DossierFacts& facts) {
  FramesReceived out;
  for (const SwitchText& text : switch_texts(facts)) {
    for (const PfcFrames& frames : text.evidence->pfc_frames) {
      if (frames.received) out[frames.port].push_back(&frames);
    }
  }
  return out;
}

// The most that any text counts of that priority; nothing if none counts them.
std::optional<std::uint64_t> most_of(const std::vector<const PfcFrames*>& texts, int priority) {
  std::optional<std::uint64_t> out;
  for (const PfcFrames* frames : texts) {
    const auto count = priority < 8 && frames->of_priority[static_cast<std::size_t>(priority)]
                           ? frames->of_priority[static_cast<std::size_t>(priority)]
                           : frames->total;
    if (count) out = std::max(out.value_or(0), *count);
  }
  return out;
}

Outcome judge_storm_shown(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  FramesReceived received = frames_received(facts);
  for (const auto& [key, rows] : watchdog_history(facts)) {
    const auto& [port, number] = key;
    const WatchdogShown& last = rows.back();
    // A storm needs pause frames: a switch that counts none of them contradicts itself (SW-3).
    const bool contradicted = most_of(received[port], number) == std::optional<std::uint64_t>(0);
    if (last.queue->status != "stormed" || contradicted) {
      if (!has_storms(rows))
        good.push_back(shown(fmt::format("{} queue {}", port, number), last.queue->status, "", *last.document,
                             last.queue->line));
      continue;
    }
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = fmt::format("{} queue {}", port, number);
    finding.evidence = {
        shown("status of the watchdog", last.queue->status, "", *last.document, last.queue->line)};
    finding.cause = fmt::format(
        "Queue {} of {} was paused for the watchdog's whole detection time while packets waited: a pause "
        "storm from "
        "its neighbour, which lasts.",
        number, port);
    finding.fix =
        advise(fmt::format("Find why the neighbour on {} does not drain: `ethtool -S` of its NIC (tx pause, "
                           "PCIe stalls), its host; "
                           "take it out of service until it does.",
                           port));
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no text says how long a priority was paused: a storm cannot be told");
}

// ---- SW-2 ----

std::uint64_t frames_of(const SwitchText& text, const std::string& port) {
  std::uint64_t out = 0;
  for (const PfcFrames& frames : text.evidence->pfc_frames) {
    if (frames.port == port) out += frames.sum().value_or(0);
  }
  return out;
}

std::string names_text(const std::vector<const PfcState*>& states) {
  SwitchPorts ports;
  for (const PfcState* state : states) ports.ports.push_back(state->port);
  return ports.text();
}

// Ports of one text on which PFC is not in force. One of a list may simply carry no RoCE: it needs a sign
// that it should.
void judge_states(const SwitchText& text, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  std::vector<const PfcState*> working, idle, pausing;
  for (const PfcState& state : text.evidence->pfc_states) {
    const bool works =
        state.active.value_or(state.enabled) && !(state.priorities && state.priorities->is_empty());
    if (works) {
      working.push_back(&state);
    } else if (frames_of(text, state.port) > 0 || (state.enabled && !state.negotiated)) {
      pausing.push_back(&state);
    } else {
      idle.push_back(&state);
    }
  }
  for (const PfcState* state : working)
    good.push_back(shown("PFC of " + state->port, state->shown, "", *text.document, state->line));
  const auto report = [&](const std::vector<const PfcState*>& states, Severity severity, std::string cause) {
    Finding finding;
    finding.severity = severity;
    finding.confidence = severity == Severity::warning ? Confidence::high : Confidence::medium;
    finding.subject = text.name() + " " + names_text(states);
    if (text.evidence->pfc_globally) {
      finding.evidence.push_back(shown("global PFC", *text.evidence->pfc_globally ? "enabled" : "disabled",
                                       "", *text.document, text.evidence->pfc_globally_line));
    }
    for (const PfcState* state : states) {
      if (finding.evidence.size() >= 6) break;
      finding.evidence.push_back(
          shown("PFC of " + state->port, state->shown, "", *text.document, state->line));
      if (const std::uint64_t frames = frames_of(text, state->port))
        finding.evidence.push_back(
            shown("PFC frames on " + state->port, frames, "frames", *text.document, state->line));
    }
    finding.cause = std::move(cause);
    const bool negotiated = std::ranges::any_of(states, [](const PfcState* s) { return s->negotiated; });
    finding.fix = advise(negotiated ? "Set `priority-flow-control mode on` on these ports, or make DCBX of "
                                      "the host announce PFC for the "
                                      "RoCE priority (mode Auto waits for it)."
                                    : "Enable PFC for the RoCE priority on each of these ports; the global "
                                      "switch alone does nothing.");
    findings.push_back(std::move(finding));
  };
  if (!pausing.empty()) {
    report(pausing, Severity::warning,
           "PFC is configured, or pause frames cross these ports, but PFC is not in force on them: the RoCE "
           "class is "
           "lossy there.");
  }
  if (!idle.empty() && working.empty() && pausing.empty()) {
    const bool negotiated = std::ranges::all_of(idle, [](const PfcState* s) { return s->negotiated; });
    report(idle, Severity::warning,
           negotiated
               ? "PFC is left to DCBX (mode Auto) and is off on every port shown: nothing was negotiated, "
                 "and no "
                 "class is lossless."
               : "PFC is on at no port shown: whatever is set globally or on the hosts, no class is lossless "
                 "here.");
  } else if (!idle.empty()) {
    report(idle, Severity::info,
           "PFC is off on these ports while others have it: right only if no RoCE crosses them.");
  }
}

// Words of forwarding classes and queues that are meant to be lossless.
bool is_lossless_queue(const SwitchText& text, const QueueTraffic& queue) {
  const std::string& name = queue.forwarding_class;
  if (name.find("no-loss") != std::string::npos || name.find("NO-LOSS") != std::string::npos ||
      name.find("lossless") != std::string::npos)
    return true;
  const auto settings = text.model().of(queue.port);
  if (!queue.number || *queue.number > 7 || !settings.pfc) return false;
  for (int p = 0; p < 8; ++p) {
    if (settings.pfc->contains(Priority(p)) && queue_of(settings, Priority(p)).value() == *queue.number)
      return true;
  }
  return false;
}

// Lossless queues without a packet beside a best-effort queue that carries the port's traffic.
void judge_queues(const SwitchText& text, std::uint64_t enough, std::vector<Finding>& findings,
                  std::vector<Evidence>& good) {
  std::map<std::string, std::vector<const QueueTraffic*>> ports;
  for (const QueueTraffic& queue : text.evidence->queues) ports[queue.port].push_back(&queue);
  for (const auto& [port, queues] : ports) {
    const QueueTraffic* best_effort = nullptr;
    const QueueTraffic* lossless = nullptr;
    bool used = false;
    for (const QueueTraffic* queue : queues) {
      if (is_lossless_queue(text, *queue) && queue->sent) {
        lossless = queue;
        used = used || *queue->sent > 0;
      }
      if (queue->number == std::optional(0)) best_effort = queue;
    }
    if (lossless == nullptr || best_effort == nullptr) continue;
    if (used || best_effort->sent.value_or(0) < enough) {
      if (used)
        good.push_back(shown("sent from " + lossless->queue, *lossless->sent, "packets", *text.document,
                             lossless->line));
      continue;
    }
    Finding finding;
    finding.severity = Severity::warning;
    finding.confidence = Confidence::medium;
    finding.subject = fmt::format("{} {}", text.name(), port);
    finding.evidence = {shown("sent from queue " + best_effort->queue, *best_effort->sent, "packets",
                              *text.document, best_effort->line),
                        shown("sent from queue " + lossless->queue, *lossless->sent, "packets",
                              *text.document, lossless->line)};
    finding.cause = fmt::format(
        "Everything leaves {} from the best-effort queue, and its lossless queue {} carried nothing: if RoCE "
        "crosses "
        "this port, it is not classified, and PFC cannot protect it (its zero counters mean not exercised).",
        port, lossless->queue);
    finding.fix = advise(
        "Bind a DSCP classifier that leads the RoCE DSCP to the lossless class on the ports where RoCE "
        "enters, then see "
        "that queue move under load.");
    findings.push_back(std::move(finding));
  }
}

Outcome judge_in_force(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  std::string reason = "no text says on which ports of a switch PFC is in force";
  bool all_zero = false;
  for (const SwitchText& text : switch_texts(facts)) {
    judge_states(text, findings, good);
    judge_queues(text, facts.policy.idle_below_packets, findings, good);
    std::uint64_t frames = 0;
    for (const PfcFrames& row : text.evidence->pfc_frames) frames += row.sum().value_or(0);
    all_zero = all_zero || (!text.evidence->pfc_frames.empty() && frames == 0);
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  if (all_zero)
    reason = "all PFC counters of the switch are 0: PFC was not exercised, which proves neither way";
  return Outcome::not_checked(reason);
}

}  // namespace

std::span<const Rule> switch_pause_rules() {
  static constexpr Rule kRules[] = {
      {.id = "SW-2",
       .title = "PFC is in force on the switch's ports",
       .condition =
           "Where PFC is configured, globally or at the far end, the port has it in operation, and its "
           "lossless queue carries the RoCE traffic.",
       .why = "PFC on globally is not PFC on the port; a lossless queue without packets protects nothing.",
       .needs = "show priority-flow-control (EOS, NX-OS), queue counters with classes (Junos, SONiC).",
       .decided =
           "Warning where PFC is off or not active on every port shown, or on a port that counts PFC frames "
           "or "
           "has it configured; where a lossless queue has no packet and queue 0 has 1000 or more. Info where "
           "other ports have it. Counters that are all 0 are not checked: not exercised.",
       .fix = "PFC per port; the classifier.",
       .source = "IEEE 802.1Qbb; Arista, Cisco and Juniper documentation",
       .gates = {},
       .judge = judge_in_force},
      {.id = "SW-1",
       .title = "The switch's PFC watchdog is quiet",
       .condition = "No storm detected and nothing dropped by its action.",
       .why = "Loss by the watchdog looks like congestion and is none: the neighbour of that port never "
              "stops pausing.",
       .needs = "show pfcwd stats (SONiC), show priority-flow-control counters watchdog (EOS).",
       .decided = "Critical with drops or a storm that lasts, else warning.",
       .fix = "The neighbour on that port; NIC stall prevention.",
       .source = "sonic-net/sonic-buildimage#8483; SONiC pfc_detect scripts",
       .gates = {},
       .judge = judge_switch_watchdog},
      {.id = "PFC-5",
       .title = "No pause storm at a switch's port",
       .condition = "No queue of a watchdog is stormed.",
       .why = "A queue that is paused for the whole detection time delivers nothing, and holds up what waits "
              "behind it.",
       .needs = "show pfcwd stats.",
       .decided = "Critical for a queue whose status is stormed, unless the same switch counts no PFC frame "
                  "on it (SW-3).",
       .fix = "The neighbour on that port.",
       .source = "SONiC PFC watchdog (pfc_detect_*.lua: 99 % of the poll, packets waiting, none leaving)",
       .gates = {},
       .judge = judge_storm_shown},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
