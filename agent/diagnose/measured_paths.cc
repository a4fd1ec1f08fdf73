// Rules over perftest, ping and traffic generators: what a path carries, and what it loses.
#include <algorithm>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/ping.h"
#include "agent/evidence/verbs_words.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

Evidence rate_evidence(const std::string& name, const RunSeen& seen, const evidence::PerftestRow& row) {
  return shown(name, fmt::format("{:.4g}", row.average_gbps), "Gb/s", *seen.document, row.line);
}

bool is_software(const evidence::PerftestRun& run) {
  return run.device.starts_with("rxe") || run.device.starts_with("siw");
}

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
  for (const PingSeen& seen : pings_in(facts.dossier)) {
    const auto mtu = seen.run->local_mtu_bytes;
    if (!mtu || *mtu >= facts.policy.minimum_mtu.count()) continue;
    Finding finding;
    finding.subject = seen.document->host.value_or(seen.document->file);
    finding.evidence = {ping_evidence(seen)};
    finding.cause = fmt::format(
        "The own interface takes only {} B: full-size packets do not even leave this host, and the RDMA MTU "
        "is small.",
        *mtu);
    finding.fix =
        advise(fmt::format("Set the netdev's MTU to {} on both hosts, and on every switch port between them.",
                           facts.policy.recommended_mtu.count()),
               {fmt::format("ip link set dev INTERFACE mtu {}", facts.policy.recommended_mtu.count())});
    findings.push_back(std::move(finding));
    break;
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no banner of perftest with an MTU is among the inputs");
}

// ---- PATH-1 ----

// Full size is what only fits an MTU above the smallest usual one.
constexpr int kLargePing = 1473;  // 1500 less IPv4 and ICMP headers, and one more

// Hosts whose ports have different MTUs: what large packets meet then is MTU-2.
bool ends_differ(const DossierFacts& facts) {
  std::set<std::int64_t> mtus;
  for (const HostFacts& host : facts.hosts) {
    for (const host::Port& port : host.host.ports) {
      if (port.mtu > Bytes(0) && (port.rdma || facts.hosts.size() > 1)) mtus.insert(port.mtu.count());
    }
  }
  return mtus.size() > 1;
}

// The same test with a small RoCE MTU has a result, with a large one none.
std::optional<Finding> large_mtu_fails(const DossierFacts& facts) {
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
          shown("with RDMA MTU", *small.run->mtu_bytes, fmt::format("B, {:.4g} Gb/s", row->average_gbps),
                *small.document, row->line)};
      finding.cause =
          "The test works with a small RDMA MTU and fails with a large one: a hop on the path does not carry "
          "full-size packets.";
      finding.fix =
          advise("Raise the MTU of every switch port on the path to 9216, and check both hosts' netdev MTU.",
                 {"ping -M do -s 8972 PEER"});
      return finding;
    }
  }
  return std::nullopt;
}

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
    if (!told && (ends_differ(facts) || small == pings.end() || run.passes() != false ||
                  run.local_mtu_bytes || run.unreachable))
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
  if (auto finding = large_mtu_fails(facts)) findings.push_back(*std::move(finding));
  return Outcome::of(
      std::move(findings), std::move(good),
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
    if (iperf->rate_gbps().value_or(0) > 0)
      alive.push_back(
          shown("TCP", fmt::format("{:.4g}", *iperf->rate_gbps()), "Gb/s", *document, iperf->line));
  }
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  const auto works =
      std::ranges::find_if(runs, [](const RunSeen& seen) { return seen.run->best() != nullptr; });
  if (works != runs.end() && silent == nullptr)
    return Outcome::passed({rate_evidence("verbs test", *works, *works->run->best())});
  if (silent == nullptr || alive.empty() || link_local || works != runs.end() || control_failed) {
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

}  // namespace

std::span<const Rule> measured_paths_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MTU-1",
       .title = "Tests run with an RDMA MTU of 4096",
       .condition = "perftest's banner says 4096.",
       .why = "The RDMA MTU follows the netdev's; 1500 gives 1024.",
       .needs = "perftest's banner on an Ethernet link, or a ping that is told the own interface's MTU.",
       .decided = "Warning below 4096; info on software RDMA.",
       .fix = "Set 9000 on both hosts and the switch.",
       .source = "NVIDIA/nccl-tests#191, NVIDIA/dgx-spark-playbooks#103",
       .gates = {},
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
       .gates = {},
       .judge = judge_full_size},
      {.id = "PATH-2",
       .title = "RoCE packets are answered where ping and TCP are",
       .condition = "No first request without answer on a path that ping or TCP proves alive.",
       .why = "Total silence is a filter on UDP 4791, a wrong VLAN or no route, not congestion.",
       .needs = "A failed first request and a working ping or TCP between the same hosts.",
       .decided = "Critical, of medium confidence.",
       .fix = "Filters and VLAN of that GID.",
       .source = "NVIDIA/nccl#426",
       .gates = {},
       .judge = judge_silence},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
