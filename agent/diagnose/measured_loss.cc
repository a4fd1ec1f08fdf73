// Rules over perftest and traffic generators: what several senders lose, and what waits for a receiver.
#include <algorithm>
#include <cmath>
#include <map>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/traffic_generator.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

Evidence sender_rate(const std::string& name, const RunSeen& seen, const evidence::PerftestRow& row) {
  return shown(name, fmt::format("{:.4g}", row.average_gbps), "Gb/s", *seen.document, row.line);
}

// ---- LOSS-1 ----

// Of a run: who sends to whom. Where the banner's GIDs are lost, the file's name may tell: "2to1", "incast".
struct Flow {
  const RunSeen* seen;
  std::string sender, receiver;
  std::optional<bool> is_crowded;  // said by the name
};

std::optional<bool> crowd_in_name(std::string_view file) {
  const std::string name = evidence::lower_case(file);
  if (evidence::contains_any(name, {"1to1", "1-to-1", "alone", "single", "baseline"})) return false;
  if (evidence::contains_any(name, {"incast", "both", "concurrent", "together"})) return true;
  for (const std::string_view mark : {"to1", "-to-1"}) {
    const auto at = name.find(mark);
    if (at != std::string::npos && at > 0 && name[at - 1] >= '2' && name[at - 1] <= '9') return true;
  }
  return std::nullopt;
}

std::vector<Flow> flows_of(const std::vector<RunSeen>& runs) {
  std::vector<Flow> out;
  for (const RunSeen& seen : runs) {
    const evidence::PerftestRun& run = *seen.run;
    if (run.best() == nullptr || run.is_server) continue;
    Flow flow{&seen, {}, {}, crowd_in_name(seen.document->file)};
    if (!run.local.empty() && !run.remote.empty()) {
      flow.sender = run.local.front().text();
      flow.receiver = run.remote.front().text();
    } else if (flow.is_crowded) {
      flow.sender = seen.document->host.value_or(seen.document->file);
      flow.receiver = "of the runs with several senders";
    } else {
      continue;
    }
    out.push_back(std::move(flow));
  }
  return out;
}

double rate_of(const Flow& flow) { return flow.seen->run->best()->average_gbps; }

// Senders to one receiver that together get far less than one gets alone.
std::optional<Finding> collapsed_incast(const DossierFacts& facts, std::vector<Evidence>& good) {
  struct Sender {
    const Flow* best = nullptr;
    const Flow* worst = nullptr;
  };
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  const std::vector<Flow> flows = flows_of(runs);
  std::map<std::string, std::map<std::string, Sender>> receivers;
  for (const Flow& flow : flows) {
    Sender& sender = receivers[flow.receiver][flow.sender];
    if (sender.best == nullptr || rate_of(flow) > rate_of(*sender.best)) sender.best = &flow;
    if (flow.is_crowded != std::optional<bool>(false) &&
        (sender.worst == nullptr || rate_of(flow) < rate_of(*sender.worst)))
      sender.worst = &flow;
  }
  for (const auto& [receiver, senders] : receivers) {
    double sum = 0;
    std::size_t count = 0;
    const Flow* alone = nullptr;
    std::vector<Evidence> evidence;
    for (const auto& [address, sender] : senders) {
      if (alone == nullptr || rate_of(*sender.best) > rate_of(*alone)) alone = sender.best;
      if (sender.worst == nullptr) continue;
      ++count;
      sum += rate_of(*sender.worst);
      evidence.push_back(
          sender_rate("from " + address, *sender.worst->seen, *sender.worst->seen->run->best()));
    }
    if (count < 2) continue;
    const double best = rate_of(*alone);
    evidence.push_back(sender_rate("one sender alone", *alone->seen, *alone->seen->run->best()));
    if (sum >= facts.policy.bench.slow_share.value() * best) {
      good = std::move(evidence);
      continue;
    }
    Finding finding;
    finding.severity = Severity::critical;
    finding.confidence = Confidence::medium;
    finding.subject = "receiver " + receiver;
    finding.evidence = std::move(evidence);
    finding.cause = fmt::format(
        "{} senders to one receiver get {:.3g} Gb/s together, where one alone gets {:.3g}: packets are lost "
        "at the shared port and "
        "repeated (go-back-N), so the class is neither lossless nor held back by ECN there.",
        count, sum, best);
    finding.fix = advise(
        "Put RoCE into one class with PFC on every port of the path, with ECN marking well before; prove it "
        "by the counters: sequence "
        "errors at the receiver and drops of the switch's queue must stay still. Zero interface drops clear "
        "nothing.",
        {"rdma statistic show", "ethtool -S INTERFACE | grep -E 'prio[0-9]_(pause|packets|discard)'"});
    return finding;
  }
  return std::nullopt;
}

Outcome judge_senders(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  if (auto finding = collapsed_incast(facts, good)) findings.push_back(*std::move(finding));
  for (const auto& [document, generator] : facts.dossier.all<evidence::TrafficGenerator>()) {
    for (const evidence::GeneratedFlow& flow : generator->flows) {
      const std::uint64_t lost = flow.sequence_errors.value_or(0);
      std::string name = flow.name + (flow.dscp ? fmt::format(" (DSCP {})", *flow.dscp) : "");
      Evidence evidence = shown("sequence errors of " + name, lost, "frames", *document, flow.line);
      if (!flow.sequence_errors) continue;
      if (lost == 0) {
        good.push_back(std::move(evidence));
        continue;
      }
      Finding finding;
      finding.severity = Severity::critical;
      finding.subject = name;
      finding.evidence = {std::move(evidence)};
      for (const evidence::GeneratedFlow& other : generator->flows) {
        if (other.receiver == flow.receiver && other.sequence_errors == std::uint64_t{0} && other.dscp &&
            other.dscp != flow.dscp) {
          finding.evidence.push_back(
              shown(fmt::format("sequence errors of {} (DSCP {})", other.name, *other.dscp), 0, "frames",
                    *document, other.line));
        }
      }
      finding.cause = finding.evidence.size() > 1
                          ? "Flows of one class lose frames where those of another class to the same port "
                            "lose none: the switch maps its DSCP to a lossy "
                            "class."
                          : "The flow loses frames on its way.";
      finding.fix = advise(
          "Compare the DSCP of the hosts with the switch's DSCP map, instead of assuming 26: only the "
          "classes with PFC are protected.");
      findings.push_back(std::move(finding));
    }
  }
  return Outcome::of(
      std::move(findings), std::move(good),
      "no counters of a run, and no rates of several senders to one receiver beside one alone, are among the "
      "inputs");
}

// ---- LOSS-2 ----

Outcome judge_stalls(const DossierFacts& facts) {
  std::vector<Evidence> good;
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRun& run = *seen.run;
    if (run.test.find("Send") == std::string::npos || !run.tx_depth || *run.tx_depth < 1) continue;
    for (const evidence::PerftestRow& row : run.rows) {
      const double rate = row.message_rate_mpps * 1e6;
      const double expected = *run.tx_depth * run.qps.value_or(1) / facts.policy.rnr_stall.seconds();
      if (rate <= 0) continue;
      std::vector<Evidence> evidence{
          shown("messages per second", fmt::format("{:.1f}", rate), "1/s", *seen.document, row.line),
          shown("in flight / 0.655 s", fmt::format("{:.1f}", expected), "1/s", *seen.document, run.line)};
      if (std::abs(rate / expected - 1) > facts.policy.rnr_tolerance.value()) {
        good = {evidence.front()};
        continue;
      }
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = run.device.empty() ? seen.document->file : run.device;
      finding.evidence = std::move(evidence);
      finding.cause =
          "Messages come at the number in flight per 0.655 s, without any error: the receiver is not ready, "
          "and each time the sender waits the "
          "longest RNR timer (min_rnr_timer 0 = 655.36 ms).";
      finding.fix = advise(
          "Set min_rnr_timer to 12 (0.64 ms) to 14, post more receives, or use credits. The network needs no "
          "change.");
      return Outcome::found(std::move(finding));
    }
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no send test with its depth and message rate is among the inputs");
}

}  // namespace

std::span<const Rule> measured_loss_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LOSS-1",
       .title = "Senders together get what one gets alone",
       .condition = "N senders to one receiver reach at least 60 % of one alone; a traffic generator sees no "
                    "frame missing.",
       .why = "Loss at the shared port makes go-back-N repeat whole windows.",
       .needs = "perftest of several senders to one receiver and of one alone, with their GIDs; or a "
                "generator's flow table.",
       .decided = "Critical.",
       .fix = "One class with PFC and ECN over the whole path.",
       .source = "linux-rdma/perftest#219, sonic-net/sonic-mgmt#25347",
       .gates = {},
       .judge = judge_senders},
      {.id = "LOSS-2",
       .title = "Messages do not wait for the RNR timer",
       .condition = "A send test's message rate is not the number in flight per 0.655 s.",
       .why = "min_rnr_timer 0 is 655.36 ms, and infinite retries show no error.",
       .needs = "perftest's send test with its depth.",
       .decided = "Warning within 20 % of it.",
       .fix = "min_rnr_timer 12 to 14, deeper receive queue.",
       .source = "NVIDIA/daqiri#126; IBTA specification 9.7.5.2.8",
       .gates = {},
       .judge = judge_stalls},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
