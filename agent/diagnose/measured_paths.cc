// Rules over perftest, ping and traffic generators: what a path carries, and what it loses.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/ping.h"
#include "agent/evidence/benchmarks/traffic_generator.h"
#include "agent/evidence/verbs_words.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::GidText;

Evidence rate_evidence(const std::string& name, const RunSeen& seen, const evidence::PerftestRow& row) {
  return shown(name, fmt::format("{:.4g}", row.average_Gbps), "Gb/s", *seen.document, row.line);
}

bool is_software(const evidence::PerftestRun& run) {
  return run.device.starts_with("rxe") || run.device.starts_with("siw");
}

// ---- MTU-1 ----

Outcome judge_banner_mtu(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  std::set<std::pair<std::string, int>> judged;
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRun& run = *seen.run;
    if (!run.mtu_bytes || run.link_type == "IB" || !judged.insert({run.device, *run.mtu_bytes}).second)
      continue;
    Evidence evidence = shown("RDMA MTU in use", *run.mtu_bytes, "B", *seen.document, run.line);
    if (*run.mtu_bytes >= 4096) {
      good.push_back(std::move(evidence));
      continue;
    }
    Finding finding;
    finding.severity = is_software(run) ? Severity::info : Severity::warning;
    finding.subject = run.device.empty() ? seen.document->file : run.device;
    finding.evidence = {std::move(evidence)};
    finding.cause = fmt::format(
        "The test ran with an RDMA MTU of {}, where 4096 would carry the same data in fewer packets: the "
        "netdev's MTU is too "
        "small for more (1500 gives 1024). It costs some 5 %, not a factor.",
        *run.mtu_bytes);
    finding.fix =
        advise(fmt::format("Set the netdev's MTU to {} on both hosts, and on every switch port between them.",
                           facts.policy.recommended_mtu.count()),
               {fmt::format("ip link set dev INTERFACE mtu {}", facts.policy.recommended_mtu.count())});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no banner of perftest with an MTU is among the inputs");
}

// ---- PATH-1 ----

struct PingSeen {
  const evidence::Document* document;
  const evidence::PingRun* run;
};
std::vector<PingSeen> pings_in(const evidence::Dossier& dossier) {
  std::vector<PingSeen> out;
  for (const auto& [document, ping] : dossier.all<evidence::Ping>()) {
    for (const evidence::PingRun& run : ping->runs) out.push_back({document, &run});
  }
  return out;
}

Evidence ping_evidence(const PingSeen& seen) {
  const evidence::PingRun& run = *seen.run;
  std::string value = run.received && run.sent ? fmt::format("{} of {} answered", *run.received, *run.sent)
                      : run.replies > 0        ? fmt::format("{} answered", run.replies)
                                               : std::string("no answer");
  if (run.local_mtu_bytes) value += fmt::format(", own interface has MTU {}", *run.local_mtu_bytes);
  if (run.hop_mtu_bytes)
    value += fmt::format(", {} has MTU {}", run.hop.empty() ? "a hop" : run.hop, *run.hop_mtu_bytes);
  return shown(run.payload_bytes ? fmt::format("ping with {} B", *run.payload_bytes) : std::string("ping"),
               value, "", *seen.document, run.line);
}

// Full size is what only fits an MTU above the smallest usual one.
constexpr int kLargePing = 1473;  // 1500 less IPv4 and ICMP headers, and one more

Outcome judge_full_size(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const std::vector<PingSeen> pings = pings_in(facts.dossier);
  for (const PingSeen& large : pings) {
    const evidence::PingRun& run = *large.run;
    const bool told = run.hop_mtu_bytes.has_value();
    if (!told && (!run.payload_bytes || *run.payload_bytes < kLargePing)) continue;
    if (run.passes() == true) {
      good.push_back(ping_evidence(large));
      continue;
    }
    // What does not leave the own interface is MTU-1 of this host; silence alone may be anything.
    const auto small = std::find_if(pings.begin(), pings.end(), [&](const PingSeen& other) {
      return other.run->passes() == true &&
             other.run->payload_bytes.value_or(56) < run.payload_bytes.value_or(kLargePing) &&
             (other.run->target == run.target || run.target.empty());
    });
    if (!told && (small == pings.end() || run.passes() != false || run.local_mtu_bytes || run.unreachable))
      continue;
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = run.target.empty() ? large.document->file : run.target;
    finding.evidence = {ping_evidence(large)};
    if (small != pings.end()) finding.evidence.push_back(ping_evidence(*small));
    finding.cause =
        told ? fmt::format("A hop on the path takes only {} B: RoCE packets of full size vanish there.",
                           *run.hop_mtu_bytes)
             : "Small packets pass and full-size ones vanish without a word: a hop on the path has a smaller "
               "MTU than the hosts.";
    finding.fix = advise(
        "Raise the MTU of every switch port and tunnel on the path to 9216, then repeat the ping with full "
        "size and DF in both "
        "directions.",
        {"ping -M do -s 8972 PEER", "tracepath PEER"});
    findings.push_back(std::move(finding));
    break;
  }
  // The same test with a small RoCE MTU has a result, with a large one none.
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  for (const RunSeen& large : runs) {
    if (large.run->mtu_bytes.value_or(0) < 2048 || large.run->best() != nullptr ||
        large.run->errors.empty() || !large.run->latencies.empty())
      continue;
    for (const RunSeen& small : runs) {
      const evidence::PerftestRow* row = small.run->best();
      if (row == nullptr || small.run->mtu_bytes.value_or(4096) >= *large.run->mtu_bytes ||
          small.run->device != large.run->device)
        continue;
      Finding finding;
      finding.severity = Severity::critical;
      finding.confidence = Confidence::medium;
      finding.subject = large.run->device.empty() ? large.document->file : large.run->device;
      finding.evidence = {
          shown("with RDMA MTU", *large.run->mtu_bytes, "B, no result", *large.document, large.run->line),
          shown("with RDMA MTU", *small.run->mtu_bytes, fmt::format("B, {:.4g} Gb/s", row->average_Gbps),
                *small.document, row->line)};
      finding.cause =
          "The test works with a small RDMA MTU and fails with a large one: a hop on the path does not carry "
          "full-size packets.";
      finding.fix =
          advise("Raise the MTU of every switch port on the path to 9216, and check both hosts' netdev MTU.",
                 {"ping -M do -s 8972 PEER"});
      findings.push_back(std::move(finding));
      break;
    }
    if (!findings.empty()) break;
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "no ping with full size and DF beside a small one, and no test with a small and a large RDMA MTU are "
      "among the inputs");
}

// ---- PATH-2 ----

Outcome judge_silence(const DossierFacts& facts) {
  // Nothing was ever acknowledged.
  const evidence::FailedCompletion* silent = nullptr;
  const evidence::Document* where = nullptr;
  bool link_local = false, control_failed = false;
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    control_failed |= !seen.signs->tcp_control.empty();
    for (const evidence::FailedCompletion& failed : seen.signs->completions.first) {
      link_local |= (failed.local && failed.local->is_link_local()) ||
                    (failed.remote && failed.remote->is_link_local());
      if (failed.status == evidence::wc::kRetryExceeded && failed.is_first_request && silent == nullptr) {
        silent = &failed;
        where = seen.document;
      }
    }
  }
  std::vector<Evidence> alive;
  for (const PingSeen& seen : pings_in(facts.dossier)) {
    if (seen.run->passes() == true) alive.push_back(ping_evidence(seen));
  }
  for (const auto& [document, iperf] : facts.dossier.all<evidence::Iperf>()) {
    if (iperf->rate_Gbps().value_or(0) > 0)
      alive.push_back(
          shown("TCP", fmt::format("{:.4g}", *iperf->rate_Gbps()), "Gb/s", *document, iperf->line));
  }
  bool works = false;
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) works |= seen.run->best() != nullptr;
  if (works && silent == nullptr) {
    for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
      if (const evidence::PerftestRow* row = seen.run->best())
        return Outcome::passed({rate_evidence("verbs test", seen, *row)});
    }
  }
  if (silent == nullptr || alive.empty() || link_local || works || control_failed) {
    return Outcome::not_checked(
        "a first request that nobody answered, beside a ping or TCP that works between the same hosts, is "
        "not among the inputs");
  }
  Finding finding;
  finding.severity = Severity::critical;
  finding.confidence = Confidence::medium;
  finding.subject = silent->device.empty() ? where->file : silent->device;
  finding.evidence = {quoted("never answered", silent->quote, *where)};
  finding.evidence.insert(finding.evidence.end(), alive.begin(), alive.end());
  finding.cause =
      "Not one RoCE packet was answered, while ping or TCP works on the same path: UDP 4791 is filtered, or "
      "goes into a wrong VLAN or "
      "subnet. Total silence is no congestion.";
  finding.fix = advise(
      "Look for an ACL, security group or host firewall on UDP port 4791, and for the VLAN and route of "
      "exactly that GID; compare the RDMA "
      "receive counters of the peer before and after.",
      {"nft list ruleset | grep 4791", "rdma statistic show"});
  return Outcome::found(std::move(finding));
}

// ---- LOSS-1 ----

// Senders to one receiver that together get far less than one gets alone.
std::optional<Finding> collapsed_incast(const DossierFacts& facts, std::vector<Evidence>& good) {
  struct Sender {
    const RunSeen* best = nullptr;
    const RunSeen* worst = nullptr;
  };
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  std::map<std::string, std::map<std::string, Sender>> receivers;
  for (const RunSeen& seen : runs) {
    if (seen.run->best() == nullptr || seen.run->is_server || seen.run->local.empty() ||
        seen.run->remote.empty())
      continue;
    Sender& sender = receivers[seen.run->remote.front().text()][seen.run->local.front().text()];
    const double rate = seen.run->best()->average_Gbps;
    if (sender.best == nullptr || rate > sender.best->run->best()->average_Gbps) sender.best = &seen;
    if (sender.worst == nullptr || rate < sender.worst->run->best()->average_Gbps) sender.worst = &seen;
  }
  for (const auto& [receiver, senders] : receivers) {
    if (senders.size() < 2) continue;
    double sum = 0;
    const RunSeen* alone = nullptr;
    std::vector<Evidence> evidence;
    for (const auto& [address, sender] : senders) {
      sum += sender.worst->run->best()->average_Gbps;
      evidence.push_back(rate_evidence("from " + address, *sender.worst, *sender.worst->run->best()));
      if (alone == nullptr || sender.best->run->best()->average_Gbps > alone->run->best()->average_Gbps)
        alone = sender.best;
    }
    const double best = alone->run->best()->average_Gbps;
    evidence.push_back(rate_evidence("one sender alone", *alone, *alone->run->best()));
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
        senders.size(), sum, best);
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
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
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
      const double rate = row.message_rate_Mpps * 1e6;
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

std::span<const Rule> measured_paths_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MTU-1",
       .title = "Tests run with an RDMA MTU of 4096",
       .condition = "perftest's banner says 4096.",
       .why = "The RDMA MTU follows the netdev's; 1500 gives 1024.",
       .needs = "perftest's banner on an Ethernet link.",
       .decided = "Warning below 4096; info on software RDMA.",
       .fix = "Set 9000 on both hosts and the switch.",
       .source = "NVIDIA/nccl-tests#191, NVIDIA/dgx-spark-playbooks#103",
       .judge = judge_banner_mtu},
      {.id = "PATH-1",
       .title = "Full-size packets pass the path",
       .condition = "A ping with full size and DF is answered as a small one is; a test with a large RDMA "
                    "MTU works as one with a small one does.",
       .why = "A hop with a smaller MTU drops full-size packets in silence: small transfers work, large ones "
              "hang.",
       .needs = "A large and a small ping between the same hosts, or perftest with both MTUs.",
       .decided = "Critical if a hop says so, or if only the large one is lost. What does not leave the own "
                  "interface is MTU-1.",
       .fix = "9216 on every port of the path.",
       .source = "NVIDIA/nccl#1524, #2135",
       .judge = judge_full_size},
      {.id = "PATH-2",
       .title = "RoCE packets are answered where ping and TCP are",
       .condition = "No first request without answer on a path that ping or TCP proves alive.",
       .why = "Total silence is a filter on UDP 4791, a wrong VLAN or no route, not congestion.",
       .needs = "A failed first request and a working ping or TCP between the same hosts.",
       .decided = "Critical, of medium confidence.",
       .fix = "Filters and VLAN of that GID.",
       .source = "NVIDIA/nccl#426",
       .judge = judge_silence},
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
       .judge = judge_senders},
      {.id = "LOSS-2",
       .title = "Messages do not wait for the RNR timer",
       .condition = "A send test's message rate is not the number in flight per 0.655 s.",
       .why = "min_rnr_timer 0 is 655.36 ms, and infinite retries show no error.",
       .needs = "perftest's send test with its depth.",
       .decided = "Warning within 20 % of it.",
       .fix = "min_rnr_timer 12 to 14, deeper receive queue.",
       .source = "NVIDIA/daqiri#126; IBTA specification 9.7.5.2.8",
       .judge = judge_stalls},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
