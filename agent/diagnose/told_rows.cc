// What a NIC's own list of counters says of PFC: mlx5 prints the pause rows of a priority only where PFC is
// on for it.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"

namespace rocetune::diagnose {
namespace {

// A dump of mlx5 that nobody has cut down to rows without pause: all priorities, and pause rows of some kind
// or so many counters that it is the whole list. Source: Linux
// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c.
bool is_whole_list(const CountedPort& port) {
  if (port.document == nullptr || port.document->format != "ethtool-stats") return false;
  for (int p = 0; p < Priority::kCount; ++p) {
    const auto at = port.places.find({"rx_packets", Priority(p)});
    if (at == port.places.end() || at->second.name != fmt::format("rx_prio{}_packets", p)) return false;
  }
  constexpr std::size_t kManyCounters = 100;
  const auto& counters = port.document->counters;
  return counters.size() >= kManyCounters ||
         std::any_of(counters.begin(), counters.end(), [](const evidence::Counter& counter) {
           return counter.name.find("pause") != std::string::npos;
         });
}

PrioritySet priorities_with_pause_rows(const CountedPort& port) {
  PrioritySet out;
  for (int p = 0; p < Priority::kCount; ++p) {
    if (port.count("rx_pause_frames", Priority(p)) || port.count("tx_pause_frames", Priority(p)))
      out = out.with(Priority(p));
  }
  return out;
}

// The PFC that tools say is on at that port. Nothing if none says, or if it was said of another moment.
std::optional<PrioritySet> pfc_said(const DossierFacts& facts, const CountedPort& counted) {
  std::optional<PrioritySet> out;
  for (const HostFacts& host : facts.hosts) {
    if (host.host.name.ends_with(')')) return std::nullopt;  // several states: which one is not told
    if (!counted.host.empty() && !host.host.name.empty() && counted.host != host.host.name) continue;
    for (const host::Port& port : host.host.ports) {
      if (!port.dcb.pfc) continue;
      const bool is_other =
          !counted.device.empty() && !port.name.starts_with("port of ") && port.name != counted.device;
      if (is_other) continue;
      if (out && *out != port.dcb.pfc->enabled) return std::nullopt;
      out = port.dcb.pfc->enabled;
    }
  }
  return out;
}

// The priority that most packets are in, where RDMA is among them.
std::optional<Priority> priority_of_rdma(const DossierFacts& facts, const CountedPort& port) {
  if (port.known("rdma_rx_packets") + port.known("rdma_tx_packets") == 0) return std::nullopt;
  std::optional<Priority> busiest;
  std::uint64_t most = facts.policy.idle_below_packets * (port.is_total ? 1000 : 1), sum = 0;
  for (int p = 0; p < Priority::kCount; ++p) {
    const std::uint64_t packets =
        port.known("rx_packets", Priority(p)) + port.known("tx_packets", Priority(p));
    sum += packets;
    if (packets <= most) continue;
    most = packets;
    busiest = Priority(p);
  }
  return busiest && most * 10 >= sum * 9 ? busiest : std::nullopt;
}

Finding no_pause_rows(const CountedPort& port, Priority priority) {
  Finding finding;
  finding.subject = fmt::format("{} priority {}", port.subject(), priority.value());
  finding.evidence = {port.evidence("rx_packets", priority)};
  finding.evidence.push_back(
      {fmt::format("rx_prio{}_pause", priority.value()), "no such row", "", port.document->file});
  return finding;
}

void judge_rows(const DossierFacts& facts, const CountedPort& port, std::vector<Finding>& findings,
                std::vector<Evidence>& good) {
  if (!is_whole_list(port)) return;
  const PrioritySet on = priorities_with_pause_rows(port);
  const auto said = pfc_said(facts, port);
  bool contradicted = false;
  for (int p = 0; p < Priority::kCount && said; ++p) {
    if (!said->contains(Priority(p)) || on.contains(Priority(p))) continue;
    contradicted = true;
    Finding finding = no_pause_rows(port, Priority(p));
    finding.confidence = Confidence::medium;
    finding.cause = fmt::format(
        "PFC is said to be on for priority {}, but the NIC lists no pause counters for it, as it does where "
        "PFC is on: it is not in force on this port, or the two outputs are of different ports or moments.",
        p);
    finding.fix =
        advise("Read both again, of the same port at the same time, and set PFC anew if it is lost.",
               {"mlnx_qos -i IF", fmt::format("ethtool -S IF | grep prio{}_pause", p)});
    findings.push_back(std::move(finding));
  }
  const auto carries = priority_of_rdma(facts, port);
  if (contradicted || !carries) return;
  if (on.contains(*carries)) {
    good.push_back(port.evidence("rx_packets", *carries));
    return;
  }
  Finding finding = no_pause_rows(port, *carries);
  // Without PFC anywhere it may be meant so (lossy RoCE); on another priority it hardly is.
  finding.severity = on.is_empty() ? Severity::info : Severity::warning;
  finding.confidence = Confidence::medium;
  finding.cause = fmt::format(
      "RDMA traffic is in priority {}, and PFC is off there: mlx5 lists pause counters only for priorities "
      "with PFC ({}). Absent rows are not zero pauses.",
      carries->value(), on.is_empty() ? std::string("here none") : fmt::format("here {}", to_text(on)));
  finding.fix = advise(
      "If the class is meant to be lossless, send RoCE in the priority that has PFC, or turn PFC on for this "
      "one, on NIC and switch alike; if it is meant to be lossy, nothing is wrong.");
  findings.push_back(std::move(finding));
}

Outcome judge_pause_rows(const DossierFacts& facts) {
  return judge_counted(facts, "no whole list of an mlx5 NIC's counters is among the inputs",
                       [&](const CountedPort& port, std::vector<Finding>& findings,
                           std::vector<Evidence>& good) { judge_rows(facts, port, findings, good); });
}

}  // namespace

std::span<const Rule> told_rows_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-5",
       .title = "PFC is in force where RoCE travels (rows of pasted counters)",
       .condition = "The priority that RDMA packets are in, and every one that PFC is said to be on for, has "
                    "pause counters.",
       .why = "A setting that was lost leaves no other trace in counters.",
       .needs = "ethtool -S of an mlx5 NIC, not cut down; mlnx_qos or dcb pfc beside it.",
       .decided = "mlx5 lists pause counters of a priority only where PFC is on. Warning against a setting "
                  "that says otherwise, or where PFC is on elsewhere; info where it is on nowhere.",
       .fix = "Set PFC anew, on the priority that RoCE uses.",
       .source = "Linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c",
       .gates = {},
       .judge = judge_pause_rows},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
