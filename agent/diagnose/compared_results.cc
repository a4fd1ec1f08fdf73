// Rules over results that stand beside each other: pairs, senders, versions, pinning.
#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/benchmarks/pair_matrix.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::MeasuredPair;
using evidence::PairMatrix;

// ---- NODE-1, HOST-2 ----

// "mlx5_0", "rocep1s0f0", "eth2": the table is about the devices of two hosts, not about hosts.
bool is_device_name(std::string_view name) {
  return name.starts_with("mlx") || name.starts_with("bnxt_re") || name.starts_with("roce") ||
         name.starts_with("irdma") || name.starts_with("eth") || name.starts_with("ens") ||
         name.starts_with("enp") || name.starts_with("socket") || name.starts_with("numa") ||
         name.starts_with("core") || name.starts_with("cpu") || name.starts_with("qedr") ||
         name.starts_with("ionic") || name.starts_with("hfi") || name.starts_with("GPU") ||
         name.starts_with("gpu");
}

bool holds(const MeasuredPair& pair, const std::string& name) { return pair.a == name || pair.b == name; }

// Names that are in all slow pairs; those that a fast pair clears are left out where that leaves any.
std::vector<std::string> common_names(const std::vector<const MeasuredPair*>& slow,
                                      const std::vector<const MeasuredPair*>& fast) {
  std::set<std::string> names;
  for (const MeasuredPair* pair : slow) {
    names.insert(pair->a);
    names.insert(pair->b);
  }
  std::vector<std::string> all, uncleared;
  for (const std::string& name : names) {
    if (!std::all_of(slow.begin(), slow.end(), [&](const MeasuredPair* pair) { return holds(*pair, name); }))
      continue;
    all.push_back(name);
    if (std::none_of(fast.begin(), fast.end(),
                     [&](const MeasuredPair* pair) { return holds(*pair, name); })) {
      uncleared.push_back(name);
    }
  }
  return uncleared.empty() ? all : uncleared;
}

// A caption such as "256KiB Mbytes/sec" holds the size and the unit.
Evidence pair_evidence(const MeasuredPair& pair, const PairMatrix::Table& table,
                       const evidence::Document& document) {
  const auto blank = table.caption.rfind(' ');
  const std::string unit = blank == std::string::npos ? table.caption : table.caption.substr(blank + 1);
  const std::string at = blank == std::string::npos ? std::string() : ", " + table.caption.substr(0, blank);
  return shown(pair.a + " with " + pair.b + at, pair.value ? fmt::format("{:g}", *pair.value) : pair.word,
               pair.value ? unit : "", document, pair.line);
}

struct SlowPairs {
  const evidence::Document* document;
  const PairMatrix::Table* table;
  std::vector<const MeasuredPair*> slow, fast;
  double share = 0;  // slow over fast
};

// Failures count as slow.
std::optional<SlowPairs> slow_pairs(const evidence::Document& document, const PairMatrix::Table& table,
                                    const Policy& policy) {
  SlowPairs out{&document, &table, {}, {}, 0};
  const auto split = split_pairs(table);
  if (split && split->slow_over_fast() < policy.bench.gap_share.value()) {
    out.slow = split->slow;
    out.fast = split->fast;
    out.share = split->slow_over_fast();
  }
  std::vector<const MeasuredPair*> failed;
  for (const MeasuredPair& pair : table.pairs) {
    if (!pair.value && !pair.word.empty()) failed.push_back(&pair);
  }
  if (out.slow.empty() && failed.empty()) return std::nullopt;
  if (out.slow.empty()) {
    for (const MeasuredPair& pair : table.pairs) {
      if (pair.value) out.fast.push_back(&pair);
    }
  }
  out.slow.insert(out.slow.end(), failed.begin(), failed.end());
  if (out.fast.empty()) return std::nullopt;
  return out;
}

std::vector<Evidence> pair_evidences(const SlowPairs& pairs) {
  std::vector<Evidence> out;
  for (const MeasuredPair* pair : pairs.slow) {
    if (out.size() < 3) out.push_back(pair_evidence(*pair, *pairs.table, *pairs.document));
  }
  out.push_back(pair_evidence(*pairs.fast.back(), *pairs.table, *pairs.document));
  return out;
}

Outcome judge_nodes(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  bool any = false;
  for (const auto& [document, matrix] : facts.dossier.all<PairMatrix>()) {
    for (const PairMatrix::Table& table : matrix->tables) {
      if (table.pairs.empty() || is_device_name(table.pairs.front().a)) continue;
      any = true;
      const auto pairs = slow_pairs(*document, table, facts.policy);
      if (!pairs) {
        good.push_back(pair_evidence(table.pairs.front(), table, *document));
        continue;
      }
      const auto names = common_names(pairs->slow, pairs->fast);
      Finding finding;
      finding.evidence = pair_evidences(*pairs);
      const std::string share = pairs->share > 0
                                    ? fmt::format("{:.0f} % of the normal rate", 100 * pairs->share)
                                    : std::string("failed");
      if (names.size() == 1) {
        finding.subject = names.front();
        finding.cause = fmt::format(
            "All slow pairs have {} in common, and its partners are fast with others: it is slow ({}), not "
            "the network "
            "between them.",
            names.front(), share);
        finding.fix = advise(fmt::format("Compare {} with a fast host: PCIe width and speed, link rate and "
                                         "errors, counters, BIOS, firmware; on a host "
                                         "with several ports, measure each.",
                                         names.front()),
                             {"lspci -vvv | grep LnkSta:", "ethtool INTERFACE", "mlxlink -d DEVICE -m -c"});
      } else if (names.size() > 1) {
        finding.confidence = Confidence::medium;
        finding.subject = listed(names);
        finding.cause =
            fmt::format("The slow pair is {} ({}); which of them is slow cannot be told from these pairs.",
                        listed(names), share);
        finding.fix =
            advise(fmt::format("Measure each of {} with a third host that is fast.", listed(names)));
      } else {
        finding.confidence = Confidence::low;
        finding.subject = document->file;
        finding.cause = fmt::format(
            "{} pairs are slow ({}), without a host that all of them have in common: several hosts, or a "
            "path that these "
            "pairs share.",
            pairs->slow.size(), share);
        finding.fix =
            advise("Look for the rack, leaf or spine that the slow pairs share, and for several slow hosts.");
      }
      findings.push_back(std::move(finding));
    }
  }
  return Outcome::of(std::move(findings), std::move(good),
                     any ? "too few pairs" : "no rates of pairs of hosts are among the inputs");
}

void find_slow_devices(const DossierFacts& facts, std::vector<Finding>& findings,
                       std::vector<Evidence>& good) {
  for (const auto& [document, matrix] : facts.dossier.all<PairMatrix>()) {
    for (const PairMatrix::Table& table : matrix->tables) {
      if (table.pairs.empty() || !is_device_name(table.pairs.front().a)) continue;
      const auto pairs = slow_pairs(*document, table, facts.policy);
      if (!pairs) {
        good.push_back(pair_evidence(table.pairs.front(), table, *document));
        continue;
      }
      const auto names = common_names(pairs->slow, pairs->fast);
      Finding finding;
      finding.confidence = names.size() == 1 ? Confidence::medium : Confidence::low;
      finding.subject = names.empty() ? document->file : listed(names);
      finding.evidence = pair_evidences(*pairs);
      finding.cause = fmt::format(
          "The rate depends on which NIC is used on either side, over the same switch{}: a matter of the "
          "hosts (socket, PCIe "
          "slot, memory, relaxed ordering), not of the network.",
          names.empty() ? std::string() : ": pairs with " + listed(names) + " are slow");
      finding.fix = advise(
          "Compare PCIe width and speed of the slow NIC with the fast one on both hosts, bind the process to "
          "the NIC's NUMA node, "
          "and try relaxed ordering and the BIOS' NPS and preferred I/O settings.",
          {"lspci -vvv | grep LnkSta:", "cat /sys/class/infiniband/DEVICE/device/numa_node",
           "numactl -N NODE -m NODE ib_write_bw ..."});
      findings.push_back(std::move(finding));
      return;
    }
  }
}

// The same test pinned to different places: by its command, else by the name of its file.
std::string pinning_of(const RunSeen& seen) {
  const std::string command = seen.run->command.empty() ? seen.document->command : seen.run->command;
  for (const std::string_view mark : {"taskset ", "numactl "}) {
    if (const auto rest = evidence::behind(command, mark)) {
      const auto end = rest->find("ib_");
      return std::string(mark) + std::string(rest->substr(0, end));
    }
  }
  std::string out;
  std::string_view name = seen.document->file;
  while (!name.empty()) {
    const auto dot = name.find('.');
    const std::string part = evidence::lower_case(name.substr(0, dot));
    if (evidence::contains_any(part, {"core", "numa", "socket", "pin", "cpu", "far", "near"}))
      out += part + " ";
    name = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  }
  return out;
}

void find_pinning(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  std::vector<std::string> places;
  for (const RunSeen& seen : runs) places.push_back(pinning_of(seen));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunSeen& slow = runs[i];
    const evidence::PerftestRow* low = slow.run->best();
    if (low == nullptr) continue;
    for (std::size_t j = 0; j < runs.size(); ++j) {
      const RunSeen& fast = runs[j];
      if (places[i] == places[j]) continue;
      const evidence::PerftestRow* high = fast.run->best();
      if (high == nullptr || slow.run == fast.run || fast.run->test != slow.run->test ||
          fast.run->qps != slow.run->qps || high->bytes != low->bytes ||
          high->average_gbps < low->average_gbps) {
        continue;
      }
      std::vector<Evidence> evidence{shown("slow: " + places[i], fmt::format("{:.4g}", low->average_gbps),
                                           "Gb/s", *slow.document, low->line),
                                     shown("fast: " + places[j], fmt::format("{:.4g}", high->average_gbps),
                                           "Gb/s", *fast.document, high->line)};
      if (low->average_gbps >= facts.policy.bench.gap_share.value() * high->average_gbps) {
        good = std::move(evidence);
        continue;
      }
      Finding finding;
      finding.subject = slow.run->device.empty() ? slow.document->file : slow.run->device;
      finding.evidence = std::move(evidence);
      finding.cause =
          "The rate depends on the core or memory that the process uses, with the same NIC and peer: it runs "
          "far from the NIC.";
      finding.fix =
          advise("Bind the process and its memory to the NIC's NUMA node.",
                 {"cat /sys/class/infiniband/DEVICE/device/numa_node", "numactl -N NODE -m NODE COMMAND"});
      findings.push_back(std::move(finding));
      return;
    }
  }
}

Outcome judge_slots_and_cores(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  find_slow_devices(facts, findings, good);
  find_pinning(facts, findings, good);
  return Outcome::of(
      std::move(findings), std::move(good),
      "no two results that differ only in the core, socket or NIC that was used are among the inputs");
}

// ---- LIB-1 ----

std::string version_of(const evidence::Document& document, const evidence::NcclTests& tests) {
  if (tests.library_version) return fmt::format("{}", *tests.library_version);
  // "nccl-tests-2.5.7.head.txt": digits with at least two dots.
  const std::string& name = document.file;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9' ||
        (i > 0 && (name[i - 1] == '.' || (name[i - 1] >= '0' && name[i - 1] <= '9'))))
      continue;
    std::size_t end = name.find_first_not_of("0123456789.", i);
    if (end == std::string::npos) end = name.size();
    std::string text = name.substr(i, end - i);
    while (text.ends_with('.')) text.pop_back();
    if (std::count(text.begin(), text.end(), '.') >= 2) return text;
  }
  // "nccl-tests.dev-build.txt": another build, if it says no number.
  std::string_view rest = name;
  while (!rest.empty()) {
    const auto dot = rest.find('.');
    std::string part = evidence::lower_case(rest.substr(0, dot));
    if (evidence::contains_any(part, {"dev", "release", "master", "upstream", "build", "tag"})) return part;
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return {};
}

Outcome judge_versions(const DossierFacts& facts) {
  struct Result {
    const evidence::Document* document;
    const evidence::NcclTests* tests;
    std::string version;
  };
  std::map<std::string, std::string> logged;  // by file: what a log in it says
  for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
    if (!log->versions.empty() && !log->versions.first.front().text.empty())
      logged.emplace(document->file, log->versions.first.front().text);
  }
  std::vector<Result> results;
  for (const auto& [document, tests] : facts.dossier.all<evidence::NcclTests>()) {
    std::string version = version_of(*document, *tests);
    if (const auto log = logged.find(document->file); version.empty() && log != logged.end())
      version = log->second;
    if (!version.empty() && tests->busbw_max_gbytes_per_s() > 0)
      results.push_back({document, tests, std::move(version)});
  }
  std::vector<Evidence> good;
  for (const Result& slow : results) {
    for (const Result& fast : results) {
      if (slow.version == fast.version || slow.tests->collective != fast.tests->collective ||
          slow.tests->rank_lines != fast.tests->rank_lines)
        continue;
      const double low = slow.tests->busbw_max_gbytes_per_s(), high = fast.tests->busbw_max_gbytes_per_s();
      if (low > high) continue;
      std::vector<Evidence> evidence{
          shown("version " + slow.version, fmt::format("{:.2f}", low), "GB/s", *slow.document),
          shown("version " + fast.version, fmt::format("{:.2f}", high), "GB/s", *fast.document)};
      if (low >= facts.policy.bench.version_share.value() * high) {
        good = std::move(evidence);
        continue;
      }
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = "version " + slow.version;
      finding.evidence = std::move(evidence);
      finding.cause =
          "The same hosts and network give another result with another version of the library: the network "
          "is shown able, the version or "
          "build is at fault.";
      finding.fix = advise(
          "Compare channels, NICs and algorithms of both versions (NCCL_DEBUG=INFO, NCCL_GRAPH_DUMP_FILE), "
          "then use the good one; do not "
          "tune QoS.");
      return Outcome::found(std::move(finding));
    }
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "no two results of the same test with different versions of the library are among the inputs");
}

}  // namespace

std::span<const Rule> compared_results_rules() {
  static constexpr Rule kRules[] = {
      {.id = "NODE-1",
       .title = "No host is slower than the others",
       .condition = "Rates of pairs of hosts do not fall into a slow and a fast group.",
       .why = "If all slow pairs share one host whose partners are fast with others, that host is the cause.",
       .needs = "A rate for each of several pairs.",
       .decided = "Warning where slow pairs stand below 80 % of the fast ones; names the host, or the pair "
                  "to measure.",
       .fix = "Compare PCIe, link and counters of that host.",
       .source = "openucx/ucx#7449",
       .gates = {},
       .judge = judge_nodes},
      {.id = "HOST-2",
       .title = "The rate does not depend on socket, core or slot",
       .condition = "Results with other NICs of the hosts or other cores are alike.",
       .why = "The same peer and switch with another result: the host's memory, PCIe slot or NUMA distance.",
       .needs = "A table over devices, or the same test pinned to different places.",
       .decided = "Warning below 80 %.",
       .fix = "Bind to the NIC's node; PCIe width, relaxed ordering, BIOS.",
       .source = "open-mpi/ompi#6888, openucx/ucx#7449",
       .gates = {},
       .judge = judge_slots_and_cores},
      {.id = "LIB-1",
       .title = "Versions of the library give the same result",
       .condition = "The same test on the same hosts is alike with every version.",
       .why = "If it is not, the network is proven and the library is the difference.",
       .needs = "Two tables of nccl-tests whose versions are said.",
       .decided = "Warning where one is below two thirds of the other.",
       .fix = "Compare channels and NICs, not QoS.",
       .source = "NVIDIA/dgx-spark-playbooks#102",
       .gates = {},
       .judge = judge_versions},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
