// What a capture proves about the class of its packets: addresses, path MTU, markings, and what neighbours
// announce.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/captured.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

using tap::QueuePairFacts;
using tap::TapFacts;

// ---- MAP-4 ----

Outcome judge_captured_marking(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  if (f.dscps.empty()) return Outcome::not_checked("no RoCE v2 packets in this capture");
  const Dscp wanted = facts.declared.dscp.value_or(
      facts.roce_class && facts.roce_class->dscp ? *facts.roce_class->dscp : facts.policy.plan.data_dscp);
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const tap::DscpFacts& row : f.dscps) {
    const std::string name = fmt::format("DSCP {}", row.dscp.value());
    good.push_back(seen(facts, name + " with ECT", row.packets - row.not_ect_packets));
    // A ToS byte of 26 is DSCP 6.
    if (row.dscp != wanted && row.dscp.value() != 0 && row.dscp.value() == wanted.value() >> 2) {
      Finding finding;
      finding.subject = name;
      finding.evidence = {seen(facts, name, row.packets)};
      finding.confidence = facts.declared.dscp ? Confidence::high : Confidence::medium;
      finding.cause =
          fmt::format("RoCE travels with DSCP {}: ToS byte {}, the DSCP {} written where a ToS byte belongs.",
                      row.dscp.value(), wanted.value(), wanted.value());
      finding.fix = advise(fmt::format("Set the traffic class to {} (DSCP {} and ECT(0)).",
                                       TosByte(wanted, Ecn::ect0).wire(), wanted.value()));
      findings.push_back(std::move(finding));
    } else if (2 * row.not_ect_packets > row.packets) {
      Finding finding;
      finding.severity = Severity::info;
      finding.subject = name;
      finding.evidence = {seen(facts, name, row.packets),
                          seen(facts, "not ECN-capable", row.not_ect_packets)};
      finding.cause = "These packets say that they cannot be marked: a switch drops or pauses them instead.";
      finding.fix =
          advise(fmt::format("Where ECN is meant to work, set the ToS byte to {} (DSCP {} and ECT(0)).",
                             TosByte(row.dscp, Ecn::ect0).wire(), row.dscp.value()));
      findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  return Outcome::passed(std::move(good));
}

// ---- MTU-1 ----

Outcome judge_captured_mtu(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  constexpr std::int64_t kLargest = 4096;
  std::int64_t smallest = 0;
  for (const QueuePairFacts& pair : f.queue_pairs) {
    if (pair.path_mtu_bytes)
      smallest = smallest == 0 ? *pair.path_mtu_bytes : std::min(smallest, *pair.path_mtu_bytes);
  }
  if (smallest == 0) return Outcome::not_checked("no message longer than one packet in this capture");
  std::vector<Evidence> evidence{seen(facts, "smallest path MTU", smallest, "B")};
  if (smallest >= kLargest) return Outcome::passed(std::move(evidence));
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = std::move(evidence);
  finding.cause =
      fmt::format("Messages are cut into packets of {} bytes: more headers, more work per byte than with {}.",
                  smallest, kLargest);
  finding.fix = advise(fmt::format("Raise the MTU of both hosts and of every hop between them to {} or more.",
                                   to_text(facts.policy.recommended_mtu)));
  return Outcome::found(std::move(finding));
}

// ---- GID-1 ----

Outcome judge_captured_addresses(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  if (f.roce_packets == 0) return Outcome::not_checked("no RoCE packets in this capture");
  std::int64_t local = 0;
  for (const QueuePairFacts& pair : f.queue_pairs) {
    if (pair.source.starts_with("fe80:")) local += pair.packets;
  }
  std::vector<Evidence> evidence{seen(facts, "RoCE packets", f.roce_packets),
                                 seen(facts, "of them RoCE v1", f.rocev1_packets),
                                 seen(facts, "from link-local addresses", local)};
  if (f.rocev1_packets == 0 && local == 0) return Outcome::passed(std::move(evidence));
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = std::move(evidence);
  finding.cause = f.rocev1_packets > 0 ? "RoCE v1 is in use: it is not routed, and has no DSCP and no ECN."
                                       : "Link-local addresses are in use: they end at the first router.";
  finding.fix = advise("Choose a RoCE v2 GID with an IPv4 or global IPv6 address.");
  return Outcome::found(std::move(finding));
}

// ---- SW-4 ----

Outcome judge_captured_neighbours(const CaptureFacts& facts) {
  const TapFacts& f = facts.capture.facts;
  const Priority wanted = facts.declared.priority.value_or(
      facts.roce_class ? facts.roce_class->priority : facts.policy.plan.data_priority);
  const bool is_known = facts.declared.priority || facts.roce_class;
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const tap::NeighbourFacts& neighbour : f.neighbours) {
    std::vector<Evidence> evidence;
    if (neighbour.pfc_enabled)
      evidence.push_back(
          seen(facts, "PFC announced by " + neighbour.source, to_text(*neighbour.pfc_enabled), ""));
    if (neighbour.pfc_willing)
      evidence.push_back(seen(facts, "willing", *neighbour.pfc_willing ? "yes" : "no", ""));
    if (neighbour.dcbx_changes > 0)
      evidence.push_back(seen(facts, "changes of the announcement", neighbour.dcbx_changes, ""));
    const bool misfits = neighbour.pfc_enabled && !neighbour.pfc_enabled->contains(wanted);
    if (!misfits && neighbour.dcbx_changes == 0) {
      good.insert(good.end(), evidence.begin(), evidence.end());
      continue;
    }
    Finding finding;
    finding.severity = misfits && is_known ? Severity::warning : Severity::info;
    finding.confidence = is_known ? Confidence::high : Confidence::medium;
    finding.subject = neighbour.source;
    finding.evidence = std::move(evidence);
    finding.cause = misfits ? fmt::format("It announces PFC for {}, which leaves out the RoCE priority {}{}.",
                                          to_text(*neighbour.pfc_enabled), wanted.value(),
                                          is_known ? "" : " of the usual plan")
                            : "What it announces changes while nobody should be configuring it.";
    finding.fix = advise(
        misfits ? fmt::format(
                      "Agree on one priority: PFC for {} on this port of the switch, or RoCE in one of its.",
                      wanted.value())
                : "Find what writes its DCBX settings, and keep one owner.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good), "no DCBX announcement in this capture");
}

}  // namespace

std::span<const Rule> captured_class_rules() {
  static constexpr Rule kRules[] = {
      {.id = "GID-1",
       .title = "Captured packets are RoCE v2 between routable addresses",
       .condition = "No RoCE v1 packet, no link-local address.",
       .why = "RoCE v1 and link-local addresses end at the first router; v1 has neither DSCP nor ECN.",
       .needs = "RoCE packets.",
       .decided = "Info if any is seen: within one subnet both work.",
       .fix = "Another GID.",
       .source = "InfiniBand annexes A16 and A17; NVIDIA/nccl#1131",
       .gates = {},
       .judge = judge_captured_addresses},
      {.id = "MTU-1",
       .title = "Captured messages use large packets",
       .condition = "First and middle packets hold 4096 bytes.",
       .why = "Headers and work per packet are the same for 1024 bytes.",
       .needs = "A message longer than one packet.",
       .decided = "Info if any queue pair uses less.",
       .fix = "MTU of hosts and switches.",
       .source = "Linux drivers/infiniband/core (iboe_get_mtu)",
       .gates = {},
       .judge = judge_captured_mtu},
      {.id = "SW-4",
       .title = "What captured neighbours announce fits the class",
       .condition = "PFC of every DCBX announcement has the RoCE priority, and announcements do not change.",
       .why = "PFC needs both ends, and a second owner shows in announcements that change.",
       .needs = "LLDP frames with DCBX; the RoCE class, declared or of this host.",
       .decided = "Warning if a known RoCE priority is left out; info if only the usual plan's is, or if an "
                  "announcement changes.",
       .fix = "Agree on one priority.",
       .source = "IEEE 802.1Qaz",
       .gates = {},
       .judge = judge_captured_neighbours},
      {.id = "MAP-4",
       .title = "Captured ToS bytes mean what they say",
       .condition = "RoCE packets are ECN-capable, and their DSCP is no misread ToS byte.",
       .why = "DSCP is the upper six bits of the byte: 26 written there is DSCP 6.",
       .needs = "RoCE v2 packets; the RoCE DSCP, declared, of this host, or the usual plan's.",
       .decided =
           "Warning for a DSCP that is a quarter of the wanted one; info where most packets of a DSCP are "
           "not ECN-capable.",
       .fix = "The application's traffic class: 4 x DSCP + 2.",
       .source = "RFC 2474, RFC 3168; dmf-mxl/mxl#603",
       .gates = {},
       .judge = judge_captured_marking},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
