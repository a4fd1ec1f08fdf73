// Receivers that are not ready, flushed requests and timers of queue pairs, as texts show them.
#include <fmt/core.h>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"
#include "agent/evidence/host_tools/qp_attributes.h"

namespace rocetune::diagnose {
namespace {

// ---- LOSS-2 ----

void judge_told_ready(const DossierFacts& facts, const CountedPort& port, std::vector<Finding>& findings,
                      std::vector<Evidence>& good) {
  const std::vector<std::string_view> names{"no_receive_wqe", "rnr_naks_received", "rnr_retries_exceeded"};
  std::vector<Evidence> seen = port.all(names);
  const std::uint64_t here = port.known("no_receive_wqe");
  const std::uint64_t there = port.known("rnr_naks_received") + port.known("rnr_retries_exceeded");
  // The kernel's own queues: beside drops of the port they are LOSS-4's matter.
  const std::uint64_t rings = port.known("rx_discards_phy") == 0 ? port.known("rx_out_of_buffer") : 0;
  if (rings > 0) append(seen, port.all({"rx_out_of_buffer"}));
  if (seen.empty()) return;
  if (here + there + rings == 0) {
    append(good, std::move(seen));
    return;
  }
  // A total since boot holds every start and end of a job.
  const std::uint64_t limit = port.is_total ? 10 * facts.policy.told_total : facts.policy.told_increase;
  const bool many = here + there >= limit || (!port.is_total && rings >= facts.policy.told_total);
  Finding finding;
  finding.subject = port.subject();
  finding.severity = many ? Severity::warning : Severity::info;
  finding.confidence = port.is_total ? Confidence::low : Confidence::high;
  finding.evidence = std::move(seen);
  finding.cause =
      fmt::format("{} ({}).{}",
                  here > 0    ? "Messages arrived before this host had posted receives for them"
                  : there > 0 ? "The peer had posted too few receives: it answered receiver-not-ready"
                              : "Host receive queues ran out of buffers",
                  port.span(), total_caution(port));
  finding.fix = advise(
      "Deeper receive queues or credits in the application, and a min_rnr_timer of 12 to 14 (0.64 to 1.28 "
      "ms), not 0 (655 ms). No change of the network.");
  findings.push_back(std::move(finding));
}

void judge_rnr_timer(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  for (const auto& [document, attributes] : facts.dossier.all<evidence::QpAttributes>()) {
    const auto code = attributes->value("min_rnr_timer");
    if (!code) continue;
    const auto ms = evidence::rnr_timer_ms(*code);
    if (!ms) continue;
    std::vector<Evidence> seen{
        shown("min_rnr_timer", *code, "", *document, attributes->line("min_rnr_timer")),
        shown("which is", *ms, "ms", *document, attributes->line("min_rnr_timer"))};
    const auto retry = attributes->value("rnr_retry");
    if (retry) seen.push_back(shown("rnr_retry", *retry, "", *document, attributes->line("rnr_retry")));
    if (*ms * 1e-3 < facts.policy.slow_rnr_timer.seconds()) {
      append(good, std::move(seen));
      continue;
    }
    Finding finding;
    finding.subject = document->file;
    finding.evidence = std::move(seen);
    finding.confidence = retry == 7 ? Confidence::high : Confidence::medium;
    finding.cause = fmt::format(
        "A receiver that is not ready stalls its sender for {:.4g} ms (min_rnr_timer {}{}){}: one missing "
        "receive request makes throughput fall to what is in flight in that time, with no error and no loss "
        "counted.",
        *ms, *code, *code == 0 ? ", the longest there is" : "",
        retry == 7 ? ", and rnr_retry 7 repeats that without end" : "");
    finding.fix = advise(
        "Set min_rnr_timer to 12 to 14 (0.64 to 1.28 ms) when the queue pair goes to RTR (rdma_cm leaves it "
        "0), and keep enough receives posted: more buffers, or credits. No switch change.");
    findings.push_back(std::move(finding));
  }
}

Outcome judge_told_receiver(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  judge_rnr_timer(facts, findings, good);
  for (const CountedPort& port : facts.counted) judge_told_ready(facts, port, findings, good);
  return Outcome::of(
      std::move(findings), std::move(good),
      "neither receiver-not-ready counters (out_of_buffer, rnr_nak_retry_err) nor queue-pair attributes are "
      "among the inputs");
}

// ---- LOSS-3 ----

Outcome judge_told_flushes(const DossierFacts& facts) {
  return judge_counted(
      facts, "no counters of flushed work requests (req_/resp_cqe_flush_error) are among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        std::vector<Evidence> seen = port.all({"request_flush_errors", "response_flush_errors"});
        if (seen.empty()) return;
        const std::uint64_t flushed =
            port.known("request_flush_errors") + port.known("response_flush_errors");
        const std::uint64_t errors =
            port.known("request_completion_errors") + port.known("response_completion_errors");
        append(seen, port.all({"request_completion_errors", "response_completion_errors"}));
        if (flushed == 0) {
          append(good, std::move(seen));
          return;
        }
        Finding finding;
        finding.subject = port.subject();
        finding.severity = Severity::info;
        finding.evidence = std::move(seen);
        finding.cause = fmt::format(
            "{} work requests were flushed {}: what follows when a queue pair fails or is torn down, not "
            "packet loss{}.",
            flushed, port.span(),
            errors > flushed ? fmt::format("; {} completions failed for another reason", errors - flushed)
                             : "");
        finding.fix = advise(
            "Look for the first completion that failed with another status in the application's log; a job "
            "that just ended flushes too.");
        findings.push_back(std::move(finding));
      });
}

// ---- TMR-1 ----

// InfiniBand Architecture Specification: local ACK timeout.
constexpr double kAckTimeoutUnitSeconds = 4.096e-6;

Outcome judge_told_timers(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, attributes] : facts.dossier.all<evidence::QpAttributes>()) {
    const auto code = attributes->value("timeout");
    const auto retries = attributes->value("retry_cnt");
    std::vector<Evidence> seen;
    if (code) seen.push_back(shown("timeout", *code, "", *document, attributes->line("timeout")));
    if (retries) seen.push_back(shown("retry_cnt", *retries, "", *document, attributes->line("retry_cnt")));
    if (seen.empty()) continue;
    Finding finding;
    finding.subject = document->file;
    if (code && (*code < 0 || *code > 31)) {
      finding.cause = fmt::format("timeout {} is no code: legal are 0 to 31.", *code);
    } else if (code == 0) {
      finding.cause = "timeout 0 means none: a lost last packet is never repeated, and the transfer hangs.";
    } else if (retries == 0) {
      finding.cause = "retry_cnt 0: the first lost packet ends the queue pair.";
    } else if (code && *code > 22) {
      finding.severity = Severity::info;
      finding.cause = fmt::format(
          "timeout {} waits {:.0f} s before each repeat: losses show as hangs, long after they happened.",
          *code, kAckTimeoutUnitSeconds * static_cast<double>(1ULL << *code));
    } else {
      append(good, std::move(seen));
      continue;
    }
    finding.evidence = std::move(seen);
    finding.fix = advise(
        "timeout 14 to 20 (67 ms to 4.3 s a try) with retry_cnt 7; watch local_ack_timeout_err instead of "
        "waiting longer.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no timeout or retry_cnt of a queue pair is among the inputs");
}

}  // namespace

std::span<const Rule> told_receiver_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LOSS-2",
       .title = "Receivers are ready (pasted counters and queue-pair attributes)",
       .condition = "No receiver-not-ready events, and a min_rnr_timer below 100 ms.",
       .why = "One missing receive request stalls the sender for the timer, with no error and no loss.",
       .needs = "out_of_buffer, rnr_nak_retry_err or the driver's names; attributes of struct ibv_qp_attr.",
       .decided = "From 10 events between two dumps on; totals since boot below 10000 are info.",
       .fix = "min_rnr_timer 12 to 14, deeper receive queues, credits. No switch change.",
       .source = "NVIDIA/daqiri#126; InfiniBand Architecture Specification (RNR NAK timer)",
       .gates = {},
       .judge = judge_told_receiver},
      {.id = "LOSS-3",
       .title = "Flushed work requests are consequences (pasted counters)",
       .condition = "No work request was flushed.",
       .why = "Flush errors are counted as completion errors and look like loss.",
       .needs = "req_/resp_cqe_flush_error and req_/resp_cqe_error.",
       .decided =
           "Info: a torn-down or failed queue pair flushes. What is left of the completion errors is named.",
       .fix = "Find the first completion that failed otherwise.",
       .source = "pytorch/gloo#147; Linux hw/mlx5/counters.c",
       .gates = {},
       .judge = judge_told_flushes},
      {.id = "TMR-1",
       .title = "Queue pairs repeat in time (pasted attributes)",
       .condition = "timeout is 1 to 22 and retry_cnt not 0.",
       .why = "No timer hangs for ever, long ones hide loss, none to repeat ends at the first.",
       .needs = "timeout and retry_cnt of struct ibv_qp_attr.",
       .decided = "4.096 us times 2 to the timeout; above 22 (17 s) is info.",
       .fix = "timeout 14 to 20 with retry_cnt 7.",
       .source = "InfiniBand Architecture Specification (local ACK timeout); NVIDIA/nccl#1555",
       .gates = {},
       .judge = judge_told_timers},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
