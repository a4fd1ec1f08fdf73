// Congestion control, as counters in texts show it.
#include <fmt/core.h>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"

namespace rocetune::diagnose {
namespace {

// ---- ECN-2 ----

Outcome judge_told_points(const DossierFacts& facts) {
  return judge_counted(
      facts, "no counters of CNPs (rp_cnp_ignored, rp_cnp_handled) are among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        const auto ignored = port.count("cnp_ignored");
        if (!ignored) return;
        std::vector<Evidence> seen = port.all({"cnp_ignored", "cnp_handled"});
        const std::uint64_t handled = port.known("cnp_handled");
        if (*ignored == 0) {
          if (handled > 0) append(good, std::move(seen));
          return;
        }
        // Of totals a few may be from before somebody turned it on.
        const bool many =
            port.is_total ? *ignored >= facts.policy.notable_marks && *ignored >= handled / 100 : true;
        Finding finding;
        finding.subject = port.subject();
        finding.severity = many ? Severity::warning : Severity::info;
        finding.confidence = port.is_total ? Confidence::low : Confidence::medium;
        finding.evidence = std::move(seen);
        finding.cause = fmt::format(
            "CNPs arrive and are ignored ({}): the reaction point is off for their priority or algorithm.{}",
            port.span(), total_caution(port));
        finding.fix = advise(
            "Turn the reaction point on for the RoCE priority (ROCE_CC_PRIO_MASK_P1, or sysfs ecn/roce_rp), "
            "or congestion control off at the peer too.");
        findings.push_back(std::move(finding));
      });
}

// ---- ECN-3 ----

void judge_marks(const DossierFacts& facts, const CountedPort& port, std::vector<Finding>& findings,
                 std::vector<Evidence>& good) {
  const auto marks = port.count("rx_ce_packets"), sent = port.count("cnp_sent");
  if (!marks || !sent) return;
  std::vector<Evidence> seen = port.all({"rx_ce_packets", "cnp_sent"});
  if (*marks < facts.policy.notable_marks || *sent > 0) {
    if (*marks + *sent > 0) append(good, std::move(seen));
    return;
  }
  Finding finding;
  finding.subject = port.subject();
  finding.confidence = port.is_total ? Confidence::medium : Confidence::high;
  finding.evidence = std::move(seen);
  finding.cause = fmt::format(
      "Packets arrive marked CE and no CNP is sent ({}): the notification point is off, so senders never "
      "hear of congestion.",
      port.span());
  finding.fix = advise(
      "Turn the notification point on for this port (ROCE_CC_PRIO_MASK_P1, or sysfs ecn/roce_np/enable).");
  findings.push_back(std::move(finding));
}

void judge_pause_without_cnps(const DossierFacts& facts, const CountedPort& port,
                              std::vector<Finding>& findings) {
  const auto handled = port.count("cnp_handled");
  if (!handled || *handled > 0 || port.is_total || port.known("cnp_ignored") > 0) return;
  for (const Pause& pause : pauses(port.delta)) {
    if (!pause.priority || pause.side != PauseSide::received || !is_notable_told(port, pause, facts.policy) ||
        is_storm(pause, facts.policy)) {
      continue;
    }
    Finding finding;
    finding.subject = port.subject() + " " + pause.subject();
    finding.confidence = Confidence::medium;
    finding.evidence = port.all({"rx_pause_frames", "rx_pause_duration_us", "cnp_handled"});
    finding.cause = fmt::format(
        "The network pauses {} and no CNP came back ({}): PFC acts where ECN should have acted before it.",
        pause.subject(), port.span());
    finding.fix = advise(
        "Check the ECN path in this order: packets leave with ECT, the switch marks this class (right queue, "
        "Kmin well below Xoff), the receiver's notification point is on, CNPs have a priority without PFC.");
    findings.push_back(std::move(finding));
    return;
  }
}

// CNPs that one host sent and that no other was told of.
void judge_lost_cnps(const DossierFacts& facts, std::vector<Finding>& findings) {
  const CountedPort* receiver = nullptr;
  std::vector<const CountedPort*> senders;
  for (const CountedPort& port : facts.counted) {
    if (port.is_total || port.host.empty()) continue;
    if (port.known("cnp_sent") >= facts.policy.notable_marks) receiver = &port;
  }
  if (receiver == nullptr) return;
  std::uint64_t handled = 0;
  for (const CountedPort& port : facts.counted) {
    if (port.is_total || port.host.empty() || port.host == receiver->host || !port.count("cnp_handled"))
      continue;
    // A host that sent nothing has nothing to hear.
    if (port.count("rdma_tx_packets") && port.known("rdma_tx_packets") < facts.policy.idle_below_packets)
      continue;
    senders.push_back(&port);
    handled += port.known("cnp_handled") + port.known("cnp_ignored");
  }
  if (senders.empty() || handled > 0) return;
  Finding finding;
  finding.subject = receiver->subject();
  finding.confidence = Confidence::medium;
  finding.evidence = receiver->all({"cnp_sent"});
  for (const CountedPort* sender : senders) append(finding.evidence, sender->all({"cnp_handled"}));
  finding.cause = fmt::format(
      "{} sent {} CNPs and none was handled at the other hosts shown: CNPs are lost on the way, travel in "
      "the wrong priority, or the senders' reaction point is off.",
      receiver->subject(), receiver->known("cnp_sent"));
  finding.fix = advise(
      "Check that CNPs (DSCP 48) have a strict class of their own without PFC on every hop, and that the "
      "reaction point is on at the senders (rp_cnp_ignored stays 0).");
  findings.push_back(std::move(finding));
}

Outcome judge_told_ecn(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const CountedPort& port : facts.counted) {
    judge_marks(facts, port, findings, good);
    judge_pause_without_cnps(facts, port, findings);
  }
  judge_lost_cnps(facts, findings);
  return Outcome::of(
      std::move(findings), std::move(good),
      "no counters of CE marks and CNPs (np_ecn_marked_roce_packets, np_cnp_sent, rp_cnp_handled) that moved "
      "are among the inputs");
}

}  // namespace

std::span<const Rule> told_ecn_rules() {
  static constexpr Rule kRules[] = {
      {.id = "ECN-2",
       .title = "CNPs that arrive are obeyed (pasted counters)",
       .condition = "rp_cnp_ignored stays 0.",
       .why = "Congestion control then has only half of its loop.",
       .needs = "hw_counters or rdma statistic of a sender, best of two moments.",
       .decided = "Any rise between two dumps; of one dump, from 100 on and 1 % of those handled, else info.",
       .fix = "Turn the reaction point on, or congestion control off at the peer too.",
       .source = "Linux hw/mlx5/counters.c; ROCm/mori#658",
       .gates = {},
       .judge = judge_told_points},
      {.id = "ECN-3",
       .title = "Marks lead to CNPs, and CNPs to their senders (pasted counters)",
       .condition = "Where packets arrive with CE, CNPs are sent; what one host sends, others handle; pause "
                    "is not what acts instead.",
       .why = "Each break leaves PFC alone with the congestion.",
       .needs = "np_ecn_marked_roce_packets, np_cnp_sent, rp_cnp_handled, of both ends; pause rows.",
       .decided = "100 marks without a CNP; notable pause without a CNP between two dumps; 100 CNPs sent and "
                  "none handled at other hosts between two dumps. CNPs may exceed marks, which old firmware "
                  "does not count.",
       .fix = "Notification point, ECN path, priority of CNPs, reaction point.",
       .source = "Zhu et al., SIGCOMM 2015; Linux hw/mlx5/counters.c",
       .gates = {},
       .judge = judge_told_ecn},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
