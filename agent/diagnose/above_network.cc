// HOST-3: results that stop below what the network is shown to do.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/size_table.h"

namespace rocetune::diagnose {
namespace {

using evidence::NcclTests;
using evidence::NcclTestsRow;

// Link rates that ports have, in Gb/s.
constexpr double kLinkRates[] = {10, 25, 40, 50, 100, 200, 400, 800};

// ---- HOST-3 ----

struct Measured {
  double gbps = 0;
  Evidence evidence;
};

std::optional<Measured> best_verbs(const DossierFacts& facts) {
  std::optional<Measured> out;
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRow* best = seen.run->best();
    if (best == nullptr || (out && best->average_gbps <= out->gbps)) continue;
    out = Measured{best->average_gbps, shown("verbs test", fmt::format("{:.4g}", best->average_gbps), "Gb/s",
                                             *seen.document, best->line)};
  }
  return out;
}

// The rate of the fastest port whose rate is shown.
std::optional<double> shown_rate(const DossierFacts& facts) {
  std::optional<BitRate> fastest;
  for (const PortSeen& seen : rdma_ports_in(facts.dossier)) {
    if (seen.port->rate) fastest = std::max(fastest.value_or(*seen.port->rate), *seen.port->rate);
  }
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (!port.port.link || !port.port.link->speed) continue;
      fastest = std::max(fastest.value_or(*port.port.link->speed), *port.port.link->speed);
    }
  }
  if (!fastest || fastest->count() == 0) return std::nullopt;
  return static_cast<double>(fastest->count()) / 1e9;
}

// A verbs test at the rate of the link: the one that is shown, else a usual one that it comes near to.
bool is_at_line_rate(double measured, std::optional<double> shown_rate, const BenchThresholds& bench) {
  const double near = bench.near_line_share.value();
  if (shown_rate) return measured >= near * *shown_rate;
  return std::ranges::any_of(kLinkRates,
                             [&](double rate) { return measured <= rate && measured >= near * rate; });
}

Finding about_file(const evidence::Document& document, std::vector<Evidence> evidence, std::string cause,
                   Fix fix) {
  Finding finding;
  finding.confidence = Confidence::medium;
  finding.subject = document.file;
  finding.evidence = std::move(evidence);
  finding.cause = std::move(cause);
  finding.fix = std::move(fix);
  return finding;
}

void judge_collectives(const DossierFacts& facts, const Measured& verbs, std::vector<Finding>& findings,
                       std::vector<Evidence>& good) {
  const BenchThresholds& bench = facts.policy.bench;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    if (tests->hosts.size() == 1) continue;  // nothing went over the network
    const NcclTestsRow* best = nullptr;
    for (const NcclTestsRow& row : tests->rows) {
      if (row.bytes < static_cast<std::uint64_t>(bench.large_message.count())) continue;
      if (best == nullptr || row.busbw_gbytes_per_s() > best->busbw_gbytes_per_s()) best = &row;
    }
    // A test that did not communicate is no measurement (BENCH-1).
    if (best == nullptr || best->busbw_gbytes_per_s() <= 0) continue;
    const double collective = best->busbw_gbytes_per_s() * 8;
    std::vector<Evidence> evidence{
        verbs.evidence,
        shown("collective, busbw", fmt::format("{:.2f}", best->busbw_gbytes_per_s()), "GB/s", *document,
              best->line),
        shown("the same in one unit", fmt::format("{:.1f} of {:.1f}", collective, verbs.gbps), "Gb/s",
              *document, best->line)};
    if (collective >= bench.slow_share.value() * verbs.gbps) {
      good = std::move(evidence);
      continue;
    }
    findings.push_back(about_file(
        *document, std::move(evidence),
        fmt::format("The network is not the limit: a verbs test between the hosts runs at {:.0f} Gb/s, the "
                    "collective "
                    "at {:.0f} % of that. The limit is above it: GPU path, proxy threads, chunk size, NIC "
                    "initialisation.",
                    verbs.gbps, 100 * collective / verbs.gbps),
        advise(
            "Leave PFC, ECN and MTU alone. Repeat the verbs test with GPU memory (--use_cuda): host memory "
            "does not clear the GPU path. Then check GPUDirect lines in the log, ACS and IOMMU, relaxed "
            "ordering, proxy thread affinity, NCCL_BUFFSIZE and chunk size.",
            {"ib_write_bw --use_cuda=0 -d DEVICE PEER", "NCCL_DEBUG=INFO ... | grep -E 'GDRDMA|via NET'"})));
  }
}

// MPI or UCX between the same hosts.
void judge_libraries(const DossierFacts& facts, const Measured& verbs, std::vector<Finding>& findings,
                     std::vector<Evidence>& good) {
  const BenchThresholds& bench = facts.policy.bench;
  const auto large = static_cast<std::uint64_t>(bench.large_for_mpi.count());
  for (const auto& [document, table] : facts.dossier.all<evidence::SizeTable>()) {
    if (table->quantity != evidence::SizeTable::Quantity::bandwidth) continue;
    const evidence::SizeTable::Row* best = nullptr;
    for (const evidence::SizeTable::Row& row : table->rows) {
      if (row.bytes >= large && (best == nullptr || row.value > best->value)) best = &row;
    }
    if (best == nullptr || best->value <= 0) continue;
    std::vector<Evidence> evidence{verbs.evidence, shown(table->title, fmt::format("{:.4g}", best->value),
                                                         "Gb/s", *document, best->line)};
    if (best->value >= bench.slow_share.value() * verbs.gbps) {
      good = std::move(evidence);
      continue;
    }
    findings.push_back(about_file(
        *document, std::move(evidence),
        fmt::format("The network is not the limit: a verbs test runs at {:.0f} Gb/s, {} at {:.0f} % of that. "
                    "The limit is in the hosts or the library: the core and memory of the process, its "
                    "protocol, registration.",
                    verbs.gbps, table->title, 100 * best->value / verbs.gbps),
        advise("Bind the processes to the NIC's NUMA node, repeat the verbs test from the same core, and "
               "compare the library's transports; leave PFC, ECN and MTU alone.",
               {"numactl -N NODE -m NODE ib_read_bw ...", "UCX_LOG_LEVEL=info ..."})));
  }
}

// Every transport alike, far below the link.
void judge_transports(const DossierFacts& facts, const Measured& verbs, double link_rate,
                      std::vector<Finding>& findings) {
  const BenchThresholds& bench = facts.policy.bench;
  if (verbs.gbps <= 0 || verbs.gbps >= bench.slow_share.value() * link_rate) return;
  for (const auto& [document, iperf] : facts.dossier.all<evidence::Iperf>()) {
    const auto tcp = iperf->rate_gbps();
    if (!tcp || *tcp <= 0) continue;
    const double ratio = *tcp / verbs.gbps;
    if (ratio < bench.like_share.value() || ratio > 1 / bench.like_share.value()) continue;
    findings.push_back(about_file(
        *document,
        {verbs.evidence, shown("TCP", fmt::format("{:.4g}", *tcp), "Gb/s", *document, iperf->line),
         shown("link rate", link_rate, "Gb/s", *document)},
        "TCP and RDMA stop at the same rate far below the link: the limit is below the network (PCIe, "
        "memory, NIC initialisation), not in its classes.",
        advise("Check the PCIe link and the NIC's firmware, and cold-start the host once; do not tune PFC, "
               "ECN or MTU.",
               {"lspci -vvv | grep LnkSta:", "dmesg | grep 'available PCIe'"})));
  }
}

Outcome judge_above_network(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  if (const auto verbs = best_verbs(facts)) {
    const auto link_rate = shown_rate(facts);
    if (is_at_line_rate(verbs->gbps, link_rate, facts.policy.bench)) {
      judge_collectives(facts, *verbs, findings, good);
      judge_libraries(facts, *verbs, findings, good);
    }
    if (link_rate) judge_transports(facts, *verbs, *link_rate, findings);
  }
  return Outcome::of(
      std::move(findings), std::move(good),
      "a collective's result and a verbs test at line rate between the same hosts are not both among the "
      "inputs");
}

}  // namespace

std::span<const Rule> above_network_rules() {
  static constexpr Rule kRules[] = {
      {.id = "HOST-3",
       .title = "The collective reaches what the network can do",
       .condition = "Its busbw at large sizes is at least 60 % of a verbs test at line rate; TCP and RDMA do "
                    "not stop together below the link.",
       .why = "Then the limit is above or below the network, and tuning the network changes nothing.",
       .needs = "nccl-tests, OSU, IMB or ucx_perftest beside perftest between the same hosts; or iperf3, "
                "perftest and the link rate.",
       .decided = "Warning. A verbs test on host memory does not clear the GPU path.",
       .fix = "Verbs test with GPU memory, GPUDirect, affinity, chunk size, PCIe.",
       .source = "NVIDIA/nccl#2409",
       .gates = {},
       .judge = judge_above_network},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
