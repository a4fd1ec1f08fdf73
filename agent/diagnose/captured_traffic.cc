// What a capture proves about traffic: loss, receivers that are not ready, broken ECN, pause storms.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/captured.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

using tap::count_of;
using tap::QueuePairFacts;
using tap::TapFacts;

// Requests and READ responses: what carries data, and what is repeated after a loss.
std::int64_t data_packets(const TapFacts& f) {
  std::int64_t answers = f.ack_packets + f.cnp_packets;
  for (const auto& [kind, count] : f.nak_packets) answers += count;
  return f.roce_packets - answers;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.4g}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string name_of(const QueuePairFacts& pair) {
  return fmt::format("{} to {} queue pair {:#x}", pair.source, pair.destination, pair.destination_qp);
}

// ---- LOSS-1 ----

std::vector<Evidence> loss_evidence(const CaptureFacts& facts, std::int64_t data) {
  const TapFacts& f = facts.capture.facts;
  std::int64_t payload = 0, again = 0, unseen = 0;
  const QueuePairFacts* worst = nullptr;
  for (const QueuePairFacts& pair : f.queue_pairs) {
    payload += pair.payload_bytes;
    again += pair.retransmitted_bytes;
    unseen += pair.acknowledged_unseen;
    if (worst == nullptr || pair.retransmitted_packets > worst->retransmitted_packets) worst = &pair;
  }
  std::vector<Evidence> out{seen(facts, "data packets", data),
                            seen(facts, "sent again", f.retransmitted_packets),
                            seen(facts, "NAK (sequence error)", count_of(f.nak_packets, "sequence"))};
  if (payload > 0 && again > 0)
    out.push_back(seen(facts, "payload sent again", percent(again, payload), "% of all"));
  if (worst != nullptr && worst->retransmitted_packets > 0 && f.queue_pairs.size() > 2)
    out.push_back(seen(facts, "most of it", name_of(*worst), ""));
  if (unseen > 0) out.push_back(seen(facts, "acknowledged, but not in the capture", unseen));
  return out;
}

Outcome judge_captured_loss(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  const std::int64_t data = data_packets(f);
  if (data <= 0) return Outcome::not_checked("no RoCE data in this capture");
  const std::int64_t naks = count_of(f.nak_packets, "sequence");
  const std::int64_t signs = std::max(f.retransmitted_packets, naks);
  const Ratio share = Ratio::of(std::min(signs, data), data);
  const bool severe = share >= facts.policy.critical_loss;
  if (share < facts.policy.notable_loss || (facts.declared.lossy && !severe)) {
    if (static_cast<std::uint64_t>(data) < facts.policy.idle_below_packets && signs == 0) {
      return Outcome::not_checked(fmt::format("{} data packets and none sent again: a verdict takes {}", data,
                                              facts.policy.idle_below_packets));
    }
    return Outcome::passed(loss_evidence(facts, data));
  }
  Finding finding;
  finding.evidence = loss_evidence(facts, data);
  if (naks == 0) {
    finding.severity = Severity::info;
    finding.cause =
        "RoCE packets are sent again, and no receiver reports a gap: timeouts. A peer answers late, or the "
        "ends of messages or their answers are lost.";
    finding.fix = advise(
        "Compare local_ack_timeout_err and the peer's load; a longer timeout if the peer is slow. Look for "
        "loss only if this goes on.");
    return Outcome::found(std::move(finding));
  }
  finding.severity = severe && !facts.declared.lossy ? Severity::critical : Severity::warning;
  finding.confidence = f.retransmitted_packets > 0 ? Confidence::high : Confidence::medium;
  finding.cause = "RoCE packets are lost on the way, and everything behind each gap is sent again.";
  finding.fix = advise(
      "Find where: compare discards and out_of_sequence at both ends and on every hop. Loss under load at "
      "one egress is a class that is not lossless there (MAP-5, on switches too); loss at any rate is the "
      "link "
      "(LINK-1).");
  return Outcome::found(std::move(finding));
}

// ---- LOSS-2 ----

Outcome judge_captured_receivers(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  const std::int64_t naks = count_of(f.nak_packets, "rnr");
  std::vector<Evidence> evidence{seen(facts, "RNR NAK", naks), seen(facts, "ACK", f.ack_packets)};
  if (naks == 0) {
    if (f.ack_packets == 0) return Outcome::not_checked("no answers of a receiver in this capture");
    return Outcome::passed(std::move(evidence));
  }
  for (const QueuePairFacts& pair : f.queue_pairs) {
    const std::int64_t here = count_of(pair.naks, "rnr");
    if (here > 0) evidence.push_back(seen(facts, "RNR NAK from " + name_of(pair), here));
    if (evidence.size() == 6) break;  // the totals say the rest
  }
  Finding finding;
  finding.evidence = std::move(evidence);
  finding.cause = "Messages reach a receiver before it has posted receives for them: it answers RNR NAK.";
  finding.fix = advise(
      "Deeper receive queues or credits in the application; a min_rnr_timer of 12 to 14 (0.64 to 1.28 ms), "
      "not 0 (655 ms). No change of the network.");
  return Outcome::found(std::move(finding));
}

// ---- ECN-3 ----

Outcome judge_captured_ecn(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  if (f.ce_packets == 0 && f.cnp_packets == 0) return Outcome::not_checked("no packet is marked CE, no CNP");
  std::vector<Finding> findings;
  for (const QueuePairFacts& pair : f.queue_pairs) {
    // Only with the other direction in the capture is a missing CNP a fact.
    if (!pair.peer || static_cast<std::uint64_t>(pair.ce_packets) < facts.policy.notable_marks) continue;
    const QueuePairFacts& back = f.queue_pairs[static_cast<std::size_t>(*pair.peer)];
    if (back.cnps > 0) continue;
    Finding finding;
    finding.subject = name_of(pair);
    finding.evidence = {seen(facts, "marked CE", pair.ce_packets),
                        seen(facts, "CNP in the other direction", back.cnps),
                        seen(facts, "ACK in the other direction", back.acks)};
    finding.cause =
        "Packets arrive marked CE, and their receiver sends no CNP: its notification point is off, so the "
        "sender never hears of congestion.";
    finding.fix = advise("Turn the notification point on at " + pair.destination +
                         " (ROCE_CC_PRIO_MASK_P1, or sysfs ecn/roce_np/enable).");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (f.cnp_packets == 0) return Outcome::not_checked("too few marks in flows seen in both directions");
  if (f.ce_packets == 0)
    return Outcome::not_checked("CNPs without a mark: captured before the congested hop");
  return Outcome::passed({seen(facts, "marked CE", f.ce_packets), seen(facts, "CNP", f.cnp_packets)});
}

// ---- PFC-5, PFC-1 ----

std::string text_of(const std::optional<Priority>& priority) {
  return priority ? fmt::format("priority {}", priority->value()) : "global pause";
}

std::vector<Evidence> pause_evidence(const CaptureFacts& facts, const tap::PauseFacts& pause) {
  const TapFacts& f = facts.capture.facts;
  std::vector<Evidence> out{seen(facts, "paused", fmt::format("{:.3g}", 100 * pause.ratio), "% of the time"),
                            seen(facts, "longest pause", fmt::format("{:.1f}", pause.longest_us), "us"),
                            seen(facts, f.link_speed_is_assumed ? "link speed (assumed)" : "link speed",
                                 to_text(f.link_speed), "")};
  std::string sources;
  for (const std::string& source : pause.sources) sources += (sources.empty() ? "" : ", ") + source;
  out.push_back(seen(facts, "asked for by", sources, ""));
  return out;
}

Outcome judge_captured_storm(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  if (f.pauses.empty()) {
    return Outcome::not_checked(
        "no pause frame in this capture; a NIC consumes them before its host captures");
  }
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const tap::PauseFacts& pause : f.pauses) {
    if (pause.storms.empty()) {
      good.push_back(seen(facts, text_of(pause.priority) + " paused",
                          fmt::format("{:.3g}", 100 * pause.ratio), "% of the time"));
      continue;
    }
    std::vector<Evidence> evidence = pause_evidence(facts, pause);
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = text_of(pause.priority);
    evidence.push_back(seen(facts, "storms", pause.storms.size(), ""));
    evidence.push_back(
        seen(facts, "first storm begins at", fmt::format("{:.6f}", pause.storms.front().start_s), "s"));
    finding.evidence = std::move(evidence);
    finding.confidence = f.link_speed_is_assumed ? Confidence::medium : Confidence::high;
    finding.cause = fmt::format("{} is held without a break: a pause storm, asked for by {}.",
                                pause.priority ? "Priority " + std::to_string(pause.priority->value())
                                               : std::string("The whole link"),
                                pause.storms.front().source);
    finding.fix = advise(
        "Go to the device with that MAC address: it does not drain. On a host look at PCIe and receive "
        "queues (PFC-6) and set pfc-prevention-tout (PFC-4); on a switch follow the pause to its own "
        "egress.");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (f.duration_s < facts.policy.storm_detection.seconds()) {
    return Outcome::not_checked(fmt::format("the capture lasts {:.3g} ms, a storm takes {}",
                                            1e3 * f.duration_s, to_text(facts.policy.storm_detection)));
  }
  return Outcome::passed(std::move(good));
}

Outcome judge_captured_pause_kind(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  const auto global = std::find_if(f.pauses.begin(), f.pauses.end(),
                                   [](const tap::PauseFacts& pause) { return !pause.priority; });
  std::vector<Evidence> evidence{seen(facts, "PFC frames with Xoff", f.pfc_xoff_frames, "frames"),
                                 seen(facts, "global pause frames", f.global_pause_frames, "frames")};
  if (f.pfc_xoff_frames == 0) {
    return Outcome::not_checked(global == f.pauses.end()
                                    ? "no pause frame in this capture"
                                    : "only global pause: whether PFC is meant is not known");
  }
  if (global == f.pauses.end()) return Outcome::passed(std::move(evidence));
  Finding finding;
  finding.evidence = std::move(evidence);
  for (const std::string& source : global->sources)
    finding.evidence.push_back(seen(facts, "global pause asked for by", source, ""));
  finding.cause =
      "One link carries PFC and 802.3x pause: the latter stops every priority, CNPs and management too.";
  finding.fix = advise("Turn 802.3x pause off at the device that asks for it: ethtool -A DEV rx off tx off.");
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> captured_traffic_rules() {
  static constexpr Rule kRules[] = {
      {.id = "PFC-1",
       .title = "A captured link uses one kind of pause",
       .condition = "PFC and 802.3x pause are not both used.",
       .why = "802.3x pause stops every priority.",
       .needs = "Pause frames in the capture.",
       .decided = "Finding if both ask for silence; not checked without PFC frames.",
       .fix = "802.3x pause off.",
       .source = "IEEE 802.3 annex 31B and 31D; NVIDIA/daqiri#250",
       .gates = {},
       .judge = judge_captured_pause_kind},
      {.id = "PFC-5",
       .title = "No pause storm in the capture",
       .condition = "No priority is held 99 % of the detection time.",
       .why = "Traffic behind the pause stands, and so does what shares its queues upstream.",
       .needs = "Pause frames; the link speed, given or assumed.",
       .decided =
           "Quanta are counted at the link speed; confidence medium if that is assumed. Not checked where "
           "the capture is shorter than the detection time.",
       .fix = "The device that asks for it.",
       .source = "SONiC pfc_detect scripts; IEEE 802.1Qbb",
       .gates = {},
       .judge = judge_captured_storm},
      {.id = "ECN-3",
       .title = "Captured marks are answered by CNPs",
       .condition = "Every flow with CE marks has CNPs in the other direction.",
       .why = "Marks that nobody reports slow no sender.",
       .needs = "A flow seen in both directions with 100 marks or more.",
       .decided = "Finding for each such flow without a CNP. One direction alone proves nothing.",
       .fix = "The receiver's notification point.",
       .source = "SIGCOMM 2015, Congestion control for large-scale RDMA deployments",
       .gates = {},
       .judge = judge_captured_ecn},
      {.id = "LOSS-1",
       .title = "Captured packets are not sent again",
       .condition = "Repeated packets and sequence NAKs stay below 1 in 100 000 data packets.",
       .why = "Go-back-N repeats a whole window for each loss.",
       .needs = "RoCE data packets.",
       .decided =
           "The larger of both over all data packets: warning from 0.001 %, critical from 0.1 %; info "
           "where no receiver sends a NAK, as a slow peer looks like that too. What the capture itself "
           "missed is no loss.",
       .fix = "The link first, then the class at every hop.",
       .source = "InfiniBand specification, sections 9.7.5 and 9.7.7",
       .gates = {},
       .judge = judge_captured_loss},
      {.id = "LOSS-2",
       .title = "Captured receivers are ready",
       .condition = "No RNR NAK.",
       .why = "Each costs a wait of up to 655 ms, with no loss and no error anywhere.",
       .needs = "Answers of receivers.",
       .decided = "Finding if any is seen.",
       .fix = "Receive queue depth, RNR timer.",
       .source = "InfiniBand specification, section 9.7.5.2.8; NVIDIA/daqiri#126",
       .gates = {},
       .judge = judge_captured_receivers},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
