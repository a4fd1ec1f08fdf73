// Rules over tables of nccl-tests and what stands beside them.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::NcclTests;
using evidence::NcclTestsRow;

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
  return shown(fmt::format("{} at {}", name, size_text(row.bytes)),
               fmt::format("{:.2f}", row.busbw_gbytes_per_s()), "GB/s", document, row.line);
}

// ---- BENCH-1 ----

bool is_alone(const NcclTests& tests, const BenchThresholds& bench, std::vector<Evidence>& evidence,
              const evidence::Document& document) {
  bool all_silent = true;
  const NcclTestsRow *instant = nullptr, *large = nullptr;  // the first of either
  bool unordered = false;
  std::uint64_t before = 0;
  for (const NcclTestsRow& row : tests.rows) {
    unordered |= row.bytes < before;
    before = row.bytes;
    if (row.bytes >= static_cast<std::uint64_t>(bench.silent_message.count()) && large == nullptr)
      large = &row;
    all_silent &= row.busbw_gbytes_per_s() == 0;
    if (row.in_place && row.in_place->time_us < 1 && instant == nullptr) instant = &row;
  }
  const bool silent = large != nullptr && all_silent;
  if (silent) evidence.push_back(row_evidence("busbw", *large, document));
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
  return silent || (instant != nullptr && tests.busbw_max_gbytes_per_s() == 0) || several_zeros;
}

Outcome judge_communication(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    const bool only_silent_footers =
        tests->rows.empty() && tests->footer_count > 1 &&
        std::all_of(tests->footers_gbytes_per_s.begin(), tests->footers_gbytes_per_s.end(),
                    [](double average) { return average == 0; });
    if (tests->rows.empty() && tests->rank_lines == 0 && !only_silent_footers) continue;
    std::vector<Evidence> evidence;
    if (only_silent_footers) {
      evidence.push_back(quoted("first of several footers", *tests->footer, *document));
    } else if (!is_alone(*tests, facts.policy.bench, evidence, *document)) {
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
  return Outcome::of(std::move(findings), std::move(good),
                     "no table of nccl-tests with rows is among the inputs");
}

// ---- BENCH-2 ----

Outcome judge_comparison(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, tests] : facts.dossier.all<NcclTests>()) {
    if (tests->footers_gbytes_per_s.empty() || !tests->footer) continue;
    Evidence footer = quoted("footer", *tests->footer, *document);
    const double average = tests->footers_gbytes_per_s.front();
    const double best = tests->busbw_max_gbytes_per_s();
    if (tests->rows.size() == 1 || (best > 0 && average > facts.policy.bench.average_share.value() * best)) {
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
              fmt::format("{:.2f} Gb/s = {:.3f} GB/s = {:.1f} MiB/s", best->average_gbps,
                          best->average_gbps / 8, best->average_gbps * 1e9 / evidence::kPerftestBitsPerMib),
              "", *seen.document, best->line));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no result that could be compared wrongly is among the inputs");
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
      if (best != nullptr &&
          row.out_of_place->busbw_gbytes_per_s < share * best->out_of_place->busbw_gbytes_per_s) {
        if (cliff == nullptr) cliff = &row;
      } else {
        if (cliff != nullptr) stays = false;
        if (best == nullptr || row.out_of_place->busbw_gbytes_per_s > best->out_of_place->busbw_gbytes_per_s)
          best = &row;
      }
    }
    if (best == nullptr || tests->rows.size() < 2 || !ordered || best->out_of_place->busbw_gbytes_per_s <= 0)
      continue;
    if (cliff == nullptr || !stays || best->out_of_place->busbw_gbytes_per_s < 1) {
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
        best->out_of_place->busbw_gbytes_per_s, cliff->out_of_place->busbw_gbytes_per_s,
        size_text(cliff->bytes),
        cliff->out_of_place->busbw_gbytes_per_s / best->out_of_place->busbw_gbytes_per_s);
    finding.fix = advise(
        "Separate the two: run with NCCL_NET_GDR_LEVEL=LOC (the cliff goes: GPU path), run ib_write_bw "
        "--use_cuda at those sizes, and "
        "read the sequence, timeout and pause counters before and after (they move: the network).");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no table of nccl-tests with several sizes is among the inputs");
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
  };
  return kRules;
}

}  // namespace rocetune::diagnose
