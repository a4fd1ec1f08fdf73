// Rules over tables of nccl-tests and what stands beside them.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::NcclTests;
using evidence::NcclTestsRow;

double busbw_of(const NcclTestsRow& row) {
  const double out = row.out_of_place ? row.out_of_place->busbw_GBps : 0;
  const double in = row.in_place ? row.in_place->busbw_GBps : 0;
  return std::max(out, in);
}

std::string size_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

Evidence row_evidence(const char* name, const NcclTestsRow& row, const evidence::Document& document) {
  return shown(fmt::format("{} at {}", name, size_text(row.bytes)), fmt::format("{:.2f}", busbw_of(row)),
               "GB/s", document, row.line);
}

// ---- BENCH-1 ----

bool is_alone(const NcclTests& tests, const BenchThresholds& bench, std::vector<Evidence>& evidence,
              const evidence::Document& document) {
  bool any_silent = false, all_silent = true;
  const NcclTestsRow* instant = nullptr;
  bool unordered = false;
  std::uint64_t before = 0;
  for (const NcclTestsRow& row : tests.rows) {
    unordered |= row.bytes < before;
    before = row.bytes;
    any_silent |= row.bytes >= static_cast<std::uint64_t>(bench.silent_message.count()) && busbw_of(row) == 0;
    all_silent &= busbw_of(row) == 0;
    if (row.in_place && row.in_place->time_us < 1 && instant == nullptr) instant = &row;
  }
  const bool silent = any_silent && all_silent;
  const NcclTestsRow* shown_row = nullptr;
  for (const NcclTestsRow& row : tests.rows) {
    if (row.bytes >= static_cast<std::uint64_t>(bench.silent_message.count()) && shown_row == nullptr)
      shown_row = &row;
  }
  if (silent) evidence.push_back(row_evidence("busbw", *shown_row, document));
  if (instant != nullptr) {
    evidence.push_back(shown(fmt::format("in-place time at {}", size_text(instant->bytes)),
                             instant->in_place->time_us, "us", document, instant->line));
  }
  if (unordered && silent) evidence.push_back(shown("order of sizes", "mixed", "", document));
  if (tests.rank_zero_lines > 1)
    evidence.push_back(shown("lines of a rank 0", tests.rank_zero_lines, "", document));
  if (tests.footer_count > 1 && silent)
    evidence.push_back(shown("footers", tests.footer_count, "", document));
  // Several runs one after the other have several footers as well: that alone says nothing.
  const bool several_zeros = tests.rank_zero_lines > 1 && tests.rank_lines == tests.rank_zero_lines;
  return silent || (instant != nullptr && tests.busbw_max_GBps() == 0) || several_zeros;
}

Outcome judge_communication(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    if (tests->rows.empty() && tests->rank_lines == 0) continue;
    std::vector<Evidence> evidence;
    if (!is_alone(*tests, facts.policy.bench, evidence, *document)) {
      if (!tests->rows.empty()) good.push_back(row_evidence("busbw", tests->rows.back(), *document));
      continue;
    }
    Finding finding;
    finding.subject = document->file;
    finding.evidence = std::move(evidence);
    finding.cause =
        "The test did not communicate: each process ran a test of its own with one rank (built without MPI), "
        "so no number of it "
        "says anything about the network.";
    finding.fix =
        advise("Build nccl-tests with MPI=1 and start it by mpirun; the header must list all ranks once.",
               {"make MPI=1 MPI_HOME=/path/to/mpi",
                "mpirun -np RANKS -H HOSTS ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1"});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no table of nccl-tests with rows is among the inputs");
}

// ---- BENCH-2 ----

// Up to here a single queue pair does not fill a fast link.
constexpr std::uint64_t kSmallMessage = 8192;

// Link rates that ports have, in Gb/s.
constexpr double kLinkRates[] = {10, 25, 40, 50, 100, 200, 400, 800};

Outcome judge_comparison(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    if (tests->footers_GBps.empty() || !tests->footer) continue;
    Evidence footer = quoted("footer", *tests->footer, *document);
    const double average = tests->footers_GBps.front();
    const double best = tests->busbw_max_GBps();
    if (tests->rows.size() == 1 || (best > 0 && average > 0.9 * best)) {
      good.push_back(std::move(footer));
      continue;
    }
    Finding finding;
    finding.severity = Severity::info;
    finding.subject = document->file;
    finding.evidence = {std::move(footer)};
    if (best > 0)
      finding.evidence.push_back(
          shown("highest busbw", fmt::format("{:.2f} GB/s = {:.1f} Gb/s", best, best * 8), "", *document));
    finding.cause =
        "The footer's average is over all sizes and both sides, small ones included: it must not be compared "
        "with a ceiling.";
    finding.fix = advise(
        "Compare the busbw of the largest size with the NICs' rates together: about 12 GB/s for each NIC of "
        "100 Gb/s, 24 for 200, "
        "46 to 48 for 400.");
    findings.push_back(std::move(finding));
  }
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRow* best = seen.run->best();
    if (best == nullptr) continue;
    good.push_back(
        shown("perftest",
              fmt::format("{:.2f} Gb/s = {:.3f} GB/s = {:.1f} MiB/s", best->average_Gbps,
                          best->average_Gbps / 8, best->average_Gbps * 1e9 / evidence::kPerftestBitsPerMib),
              "", *seen.document, best->line));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no result that could be compared wrongly is among the inputs");
}

// ---- BENCH-3 ----

Outcome judge_cliffs(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const double share = facts.policy.bench.cliff_share.value();
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    const NcclTestsRow* best = nullptr;
    const NcclTestsRow* cliff = nullptr;
    bool stays = true, ordered = true;
    std::uint64_t before = 0;
    for (const NcclTestsRow& row : tests->rows) {
      if (row.bytes < before) ordered = false;
      before = row.bytes;
      if (!row.out_of_place) continue;
      if (best != nullptr && row.out_of_place->busbw_GBps < share * best->out_of_place->busbw_GBps) {
        if (cliff == nullptr) cliff = &row;
      } else {
        if (cliff != nullptr) stays = false;
        if (best == nullptr || row.out_of_place->busbw_GBps > best->out_of_place->busbw_GBps) best = &row;
      }
    }
    if (best == nullptr || tests->rows.size() < 2 || !ordered || best->out_of_place->busbw_GBps <= 0)
      continue;
    if (cliff == nullptr || !stays || best->out_of_place->busbw_GBps < 1) {
      good.push_back(row_evidence("best busbw", *best, *document));
      continue;
    }
    Finding finding;
    finding.confidence = Confidence::high;
    finding.subject = document->file;
    finding.evidence = {row_evidence("best busbw", *best, *document),
                        row_evidence("busbw", *cliff, *document)};
    finding.cause = fmt::format(
        "Bus bandwidth falls from {:.1f} to {:.1f} GB/s at {} (x{:.2f}) and stays low: either the GPU path "
        "of large "
        "messages, or loss or pause with more data in flight.",
        best->out_of_place->busbw_GBps, cliff->out_of_place->busbw_GBps, size_text(cliff->bytes),
        cliff->out_of_place->busbw_GBps / best->out_of_place->busbw_GBps);
    finding.fix = advise(
        "Separate the two: run with NCCL_NET_GDR_LEVEL=LOC (the cliff goes: GPU path), run ib_write_bw "
        "--use_cuda at those sizes, and "
        "read the sequence, timeout and pause counters before and after (they move: the network).");
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no table of nccl-tests with several sizes is among the inputs");
}

// ---- HOST-3 ----

struct Measured {
  double Gbps = 0;
  Evidence evidence;
};

std::optional<Measured> best_verbs(const DossierFacts& facts) {
  std::optional<Measured> out;
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    const evidence::PerftestRow* best = seen.run->best();
    if (best == nullptr || (out && best->average_Gbps <= out->Gbps)) continue;
    out = Measured{best->average_Gbps, shown("verbs test", fmt::format("{:.4g}", best->average_Gbps), "Gb/s",
                                             *seen.document, best->line)};
  }
  return out;
}

// The rate of the link: shown by a port, else the usual rate next above a test near it.
std::optional<double> line_rate(const DossierFacts& facts, double measured) {
  double shown_rate = 0;
  for (const PortSeen& seen : rdma_ports_in(facts.dossier)) {
    if (seen.port->rate)
      shown_rate = std::max(shown_rate, static_cast<double>(seen.port->rate->count()) / 1e9);
  }
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (port.port.link && port.port.link->speed) {
        shown_rate = std::max(shown_rate, static_cast<double>(port.port.link->speed->count()) / 1e9);
      }
    }
  }
  if (shown_rate > 0) return shown_rate;
  for (const double rate : kLinkRates) {
    if (measured <= rate && measured >= facts.policy.bench.near_line_share.value() * rate) return rate;
  }
  return std::nullopt;
}

Outcome judge_above_network(const DossierFacts& facts) {
  const BenchThresholds& bench = facts.policy.bench;
  const auto verbs = best_verbs(facts);
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    if (tests->hosts.size() == 1) continue;  // nothing went over the network
    const NcclTestsRow* best = nullptr;
    for (const NcclTestsRow& row : tests->rows) {
      if (row.bytes < static_cast<std::uint64_t>(bench.large_message.count())) continue;
      if (best == nullptr || busbw_of(row) > busbw_of(*best)) best = &row;
    }
    // A test that did not communicate is no measurement (BENCH-1).
    if (best == nullptr || busbw_of(*best) <= 0 || !verbs) continue;
    const auto rate = line_rate(facts, verbs->Gbps);
    if (!rate || verbs->Gbps < bench.near_line_share.value() * *rate) continue;
    const double collective = busbw_of(*best) * 8;
    std::vector<Evidence> evidence{
        verbs->evidence, row_evidence("collective", *best, *document),
        shown("the same in one unit", fmt::format("{:.1f} of {:.1f}", collective, verbs->Gbps), "Gb/s",
              *document, best->line)};
    if (collective >= bench.slow_share.value() * verbs->Gbps) {
      good = std::move(evidence);
      continue;
    }
    Finding finding;
    finding.confidence = Confidence::medium;
    finding.subject = document->file;
    finding.evidence = std::move(evidence);
    finding.cause = fmt::format(
        "The network is not the limit: a verbs test between the hosts runs at {:.0f} Gb/s, the collective at "
        "{:.0f} % of that. "
        "The limit is above it: GPU path, proxy threads, chunk size, NIC initialisation.",
        verbs->Gbps, 100 * collective / verbs->Gbps);
    finding.fix = advise(
        "Leave PFC, ECN and MTU alone. Repeat the verbs test with GPU memory (--use_cuda): host memory does "
        "not clear the GPU path. "
        "Then check GPUDirect lines in the log, ACS and IOMMU, relaxed ordering, proxy thread affinity, "
        "NCCL_BUFFSIZE and chunk size.",
        {"ib_write_bw --use_cuda=0 -d DEVICE PEER", "NCCL_DEBUG=INFO ... | grep -E 'GDRDMA|via NET'"});
    findings.push_back(std::move(finding));
  }
  // Every transport alike, far below the link.
  for (const auto& [document, iperf] : facts.dossier.all<evidence::Iperf>()) {
    const auto tcp = iperf->rate_Gbps();
    if (!tcp || *tcp <= 0 || !verbs || verbs->Gbps <= 0) continue;
    const auto rate = line_rate(facts, 0);
    const double ratio = *tcp / verbs->Gbps;
    if (!rate || ratio < 0.8 || ratio > 1.25 || verbs->Gbps >= bench.slow_share.value() * *rate) continue;
    Finding finding;
    finding.confidence = Confidence::medium;
    finding.subject = document->file;
    finding.evidence = {verbs->evidence,
                        shown("TCP", fmt::format("{:.4g}", *tcp), "Gb/s", *document, iperf->line),
                        shown("link rate", *rate, "Gb/s", *document)};
    finding.cause =
        "TCP and RDMA stop at the same rate far below the link: the limit is below the network (PCIe, "
        "memory, NIC initialisation), not in "
        "its classes.";
    finding.fix = advise(
        "Check the PCIe link and the NIC's firmware, and cold-start the host once; do not tune PFC, ECN or "
        "MTU.",
        {"lspci -vvv | grep LnkSta:", "dmesg | grep 'available PCIe'"});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "a collective's result and a verbs test at line rate between the same hosts are not both among the "
      "inputs");
}

}  // namespace

std::span<const Rule> collective_results_rules() {
  static constexpr Rule kRules[] = {
      {.id = "BENCH-1",
       .title = "The test communicated",
       .condition =
           "Bus bandwidth above 0 at large sizes, one rank 0, in-place times of more than a microsecond.",
       .why = "Built without MPI every process tests itself; its numbers say nothing.",
       .needs = "A table of nccl-tests with rows or rank lines.",
       .decided = "Warning if no large row has bandwidth, if every rank line is a rank 0, or if in-place "
                  "takes no time.",
       .fix = "Build with MPI=1.",
       .source = "NVIDIA/nccl-tests#294",
       .gates = {},
       .judge = judge_communication},
      {.id = "BENCH-2",
       .title = "Numbers are compared with what they can be compared with",
       .condition = "No average over sizes stands for a peak; units are restated.",
       .why = "The footer averages small sizes in; Gb/s and GB/s differ by 8, MB and MiB by 5 %.",
       .needs = "A footer of nccl-tests, or a result of perftest.",
       .decided = "Info where a footer averages more than one size, or where one queue pair was measured "
                  "with small messages only.",
       .fix = "Compare the largest size with the NICs' ceiling.",
       .source = "nccl-tests' maintainers in NVIDIA/nccl-tests",
       .gates = {},
       .judge = judge_comparison},
      {.id = "BENCH-3",
       .title = "Bandwidth does not fall with size",
       .condition = "No size from which out-of-place busbw stays below half of what smaller sizes reached.",
       .why = "A cliff shows a second path or a second regime: GPU path, or loss and pause.",
       .needs = "A table of nccl-tests with several sizes.",
       .decided = "Warning with size and ratio; a dip that recovers is none.",
       .fix = "GDR off for comparison, counters before and after.",
       .source = "NVIDIA/nccl#1453",
       .gates = {},
       .judge = judge_cliffs},
      {.id = "HOST-3",
       .title = "The collective reaches what the network can do",
       .condition = "Its busbw at large sizes is at least 60 % of a verbs test at line rate; TCP and RDMA do "
                    "not stop together below the link.",
       .why = "Then the limit is above or below the network, and tuning the network changes nothing.",
       .needs = "nccl-tests and perftest between the same hosts; or iperf3, perftest and the link rate.",
       .decided = "Warning. A verbs test on host memory does not clear the GPU path.",
       .fix = "Verbs test with GPU memory, GPUDirect, affinity, chunk size, PCIe.",
       .source = "NVIDIA/nccl#2409",
       .gates = {},
       .judge = judge_above_network},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
