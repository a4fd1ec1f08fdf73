#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/engine.h"
#include "agent/diagnose/pause.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// ---- MAP-6 ----

struct Direction {
  const char* rdma;
  const char* packets;
  const char* verb;
  const char* whose;  // who decides the class of these packets
  std::array<const char*, 2> cnps;
};
constexpr Direction kDirections[] = {
    {"rdma_tx_packets", "tx_packets", "leave", "the application's ToS or this host's map", {"cnp_sent", ""}},
    {"rdma_rx_packets",
     "rx_packets",
     "arrive",
     "the peer's ToS, or a switch that rewrites it",
     {"cnp_handled", "cnp_ignored"}}};

// The priority other than the wanted one that carried most packets in this direction.
std::optional<Priority> busiest_other(const counters::PortDelta& delta, const char* name, Priority wanted) {
  std::optional<Priority> busiest;
  std::uint64_t most = 0;
  for (int p = 0; p < Priority::kCount; ++p) {
    const std::uint64_t packets = delta.increment(name, Priority(p)).value_or(0);
    if (Priority(p) == wanted || packets <= most) continue;
    most = packets;
    busiest = Priority(p);
  }
  return busiest;
}

// CNPs are RDMA packets too, and rightly in a class of their own: those that moved in it.
std::uint64_t cnps_in_their_class(const counters::PortDelta& delta, const Direction& direction,
                                  const RoceClass& c) {
  if (c.cnp_priority == c.priority) return 0;
  std::uint64_t counted = 0;
  for (const char* name : direction.cnps) counted += delta.increment(name).value_or(0);
  return std::min(counted, delta.increment(direction.packets, c.cnp_priority).value_or(0));
}

Outcome judge_class_in_use(const PortFacts& facts, const counters::PortDelta& delta) {
  if (!facts.roce_class) return Outcome::not_checked("no RoCE class is set up to compare with");
  const RoceClass& c = *facts.roce_class;
  if (const ChainBreak at = chain_break(facts);
      at != ChainBreak::none && at != ChainBreak::unknown && at != ChainBreak::pfc) {
    return Outcome::not_checked(at == ChainBreak::trust ? "the port does not look at DSCP: see MAP-1"
                                                        : "the class map itself is broken: see MAP-5");
  }
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  Needs need;
  for (const Direction& direction : kDirections) {
    const auto rdma = need(delta, direction.rdma);
    const auto in_class = need(delta, direction.packets, c.priority);
    if (!rdma || !in_class) continue;
    const std::uint64_t cnps = std::min(*rdma, cnps_in_their_class(delta, direction, c));
    const std::uint64_t others = *rdma - cnps;
    if (others < facts.policy.idle_below_packets) continue;
    std::vector<Evidence> evidence{counter(delta, direction.rdma),
                                   counter(delta, direction.packets, c.priority)};
    if (cnps > 0) evidence.push_back(setting("CNPs in their own class", cnps, "packets", "left out"));
    if (Ratio::of(static_cast<std::int64_t>(*in_class), static_cast<std::int64_t>(others)) >=
        facts.policy.class_share) {
      good.insert(good.end(), evidence.begin(), evidence.end());
      continue;
    }
    const auto other = busiest_other(delta, direction.packets, c.priority);
    if (other) evidence.push_back(counter(delta, direction.packets, *other));
    Finding finding;
    finding.severity = Severity::critical;
    finding.confidence = c.confidence;
    finding.evidence = std::move(evidence);
    finding.cause = fmt::format(
        "RoCE packets {} outside priority {}{}: it is {} that puts them there.", direction.verb,
        c.priority.value(), other ? fmt::format(", in priority {}", other->value()) : "", direction.whose);
    finding.fix = c.dscp
                      ? advise(fmt::format(
                            "Have applications send ToS {} (DSCP {} and ECT(0)): NCCL_IB_TC={}, "
                            "UCX_IB_TRAFFIC_CLASS={}, perftest --tclass={}; for rdma_cm, default_roce_tos.",
                            tos_of(*c.dscp).wire(), c.dscp->value(), tos_of(*c.dscp).wire(),
                            tos_of(*c.dscp).wire(), tos_of(*c.dscp).wire()))
                      : advise(fmt::format("Map the applications' DSCP to priority {}.", c.priority.value()));
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  return need.missing() ? need.not_checked()
                        : Outcome::not_checked("too few RDMA packets in either direction");
}

// ---- LOSS-1 ----

constexpr std::string_view kLossSigns[] = {"out_of_sequence", "sequence_naks_received", "implied_nak_errors",
                                           "ack_timeouts", "duplicate_requests"};

Outcome judge_loss(const PortFacts& facts, const counters::PortDelta& delta) {
  const auto packets = rdma_packets(delta);
  if (!packets || *packets == 0)
    return Outcome::not_checked("RDMA packets are not counted here: no share to compute");
  const std::vector<std::string_view> names(std::begin(kLossSigns), std::end(kLossSigns));
  std::vector<Evidence> seen = counters_seen(delta, names);
  if (seen.empty()) return Outcome::not_checked("sequence errors and timeouts are not counted here");
  std::uint64_t signs = 0;
  for (const std::string_view name : kLossSigns) signs = std::max(signs, delta.increment(name).value_or(0));
  const double share = static_cast<double>(signs) / static_cast<double>(*packets);
  seen.push_back(
      setting("share of RDMA packets", fmt::format("{:.4f}", share * 100), "%", "largest of these"));
  if (share < facts.policy.notable_loss.value()) return Outcome::passed(std::move(seen));
  const bool severe = share >= facts.policy.critical_loss.value();
  if (is_lossy_on_purpose(facts) && !severe) return Outcome::passed(std::move(seen));
  Finding finding;
  finding.severity = severe && !is_lossy_on_purpose(facts) ? Severity::critical : Severity::warning;
  finding.evidence = std::move(seen);
  const bool damaged =
      delta.increment("rx_symbol_errors").value_or(0) + delta.increment("rx_crc_errors").value_or(0) > 0;
  finding.cause =
      damaged
          ? "RoCE packets are lost and repeated, and the link damages frames (LINK-1)."
          : "RoCE packets are lost and repeated; the link itself is clean, so a queue overflows on the way.";
  finding.fix =
      advise(damaged ? "Cure the link first (LINK-1)."
                     : "Compare both ends: out_of_sequence names the receiving side. Then check that every "
                       "hop has the class lossless and marks it (MAP-5 here, the same on switches).");
  finding.confidence = Confidence::medium;
  return Outcome::found(std::move(finding));
}

// ---- LOSS-2 ----

bool is_slow_receiver(const PortFacts& facts, const counters::PortDelta& delta) {
  const std::vector<Pause> seen = pauses(delta);
  return std::any_of(seen.begin(), seen.end(), [&](const Pause& p) {
    return p.side == PauseSide::sent && is_notable(p, facts.policy);
  });
}

Outcome judge_receiver_ready(const PortFacts& facts, const counters::PortDelta& delta) {
  const std::vector<std::string_view> names{"no_receive_wqe", "rnr_naks_received", "rnr_retries_exceeded"};
  std::vector<Evidence> seen = counters_seen(delta, names);
  if (seen.empty()) return Outcome::not_checked("receiver-not-ready events are not counted here");
  const std::uint64_t here = delta.increment("no_receive_wqe").value_or(0);
  const std::uint64_t there =
      delta.increment("rnr_naks_received").value_or(0) + delta.increment("rnr_retries_exceeded").value_or(0);
  if (here == 0 && there == 0) return Outcome::passed(std::move(seen));
  if (there == 0 && is_slow_receiver(facts, delta)) {
    return Outcome::not_checked("missing receive requests are part of the slow receiver: see PFC-6");
  }
  Finding finding;
  finding.evidence = std::move(seen);
  finding.cause = here > 0 ? "Messages arrive before this host has posted receives for them."
                           : "The peer has posted too few receives: it answers receiver-not-ready.";
  finding.fix = advise(
      "Deeper receive queues or credits in the application; a min_rnr_timer of 12 to 14 (0.64 to 1.28 ms), "
      "not 0 (655 ms). No change of the network.");
  return Outcome::found(std::move(finding));
}

// ---- LOSS-3 ----

Outcome judge_flushes(const PortFacts& facts, const counters::PortDelta& delta) {
  const std::vector<std::string_view> flushes{"request_flush_errors", "response_flush_errors"};
  const std::vector<std::string_view> all{"request_completion_errors", "response_completion_errors"};
  std::vector<Evidence> seen = counters_seen(delta, flushes);
  if (seen.empty()) return Outcome::not_checked("flushed work requests are not counted here");
  std::uint64_t flushed = 0, errors = 0;
  for (const std::string_view name : flushes) flushed += delta.increment(name).value_or(0);
  for (const std::string_view name : all) errors += delta.increment(name).value_or(0);
  for (Evidence& e : counters_seen(delta, all)) seen.push_back(std::move(e));
  if (flushed == 0) {
    if (std::string idle = why_no_traffic_verdict(facts, false); !idle.empty())
      return Outcome::not_checked(std::move(idle));
    return Outcome::passed(std::move(seen));
  }
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = std::move(seen);
  finding.cause = fmt::format(
      "{} work requests were flushed: what follows when a queue pair fails or is torn down, not packet "
      "loss{}.",
      flushed,
      errors > flushed ? fmt::format("; {} completions failed for another reason before", errors - flushed)
                       : "");
  finding.fix = advise(
      "Look for the first completion that failed with another status in the application's log; a job that "
      "just ended flushes too.");
  return Outcome::found(std::move(finding));
}

// ---- LOSS-4 ----

Outcome judge_nic_drops(const PortFacts& facts, const counters::PortDelta& delta) {
  std::vector<Evidence> seen =
      counters_seen(delta, {"rx_discards_phy", "pci_buffer_overflow", "rx_out_of_buffer"});
  std::uint64_t drops = delta.increment("rx_discards_phy").value_or(0);
  for (int p = 0; p < Priority::kCount; ++p) {
    for (const std::string_view name : {"rx_discards", "rx_buffer_discards", "rx_congestion_discards"}) {
      const std::uint64_t n = delta.increment(name, Priority(p)).value_or(0);
      drops = std::max(drops, n);
      if (n > 0) seen.push_back(counter(delta, name, Priority(p)));
    }
  }
  if (!delta.increment("rx_discards_phy") && drops == 0)
    return Outcome::not_checked("receive discards are not counted here");
  if (drops == 0) {
    if (std::string idle = why_no_traffic_verdict(facts, false); !idle.empty())
      return Outcome::not_checked(std::move(idle));
    return Outcome::passed(std::move(seen));
  }
  const bool queues = delta.increment("rx_out_of_buffer").value_or(0) > 0;
  Finding finding;
  finding.severity = Severity::critical;
  finding.evidence = std::move(seen);
  finding.confidence = queues ? Confidence::medium : Confidence::high;
  finding.cause = queues ? "The NIC drops what it receives, and host queues run out of buffers."
                         : "The NIC drops what it receives although host queues have room: its buffer fills "
                           "faster than PCIe drains it, or the class is not lossless.";
  finding.fix = advise(
      queues ? "Larger receive rings and more queues; for RDMA see LOSS-2."
             : "Check that the class has PFC and headroom (MAP-5, PFC-3), then PCIe (PCIE-1, PCIE-2).");
  return Outcome::found(std::move(finding));
}

// ---- OPS-3, OPS-5 ----

Outcome judge_interval(const PortFacts&, const counters::PortDelta& delta) {
  std::size_t known = 0;
  for (const auto& [id, increment] : delta.increments) known += increment.has_value();
  if (known == 0) return Outcome::not_checked("no counter could be read twice");
  return Outcome::passed(
      {setting("measured interval", fmt::format("{:.3f}", delta.elapsed.seconds()), "s", "monotonic clock"),
       setting("counters with an increment", known, "", "ethtool, RDMA and DCB")});
}

Outcome judge_lossy_mode(const PortFacts& facts) {
  Needs need;
  const host::Pfc* pfc = need(facts.port.dcb.pfc, "PFC");
  if (pfc == nullptr) return need.not_checked();
  std::vector<Evidence> seen{setting("PFC priorities", to_text(pfc->enabled), "", source::kPfc)};
  if (!pfc->enabled.is_empty()) return Outcome::passed(std::move(seen));
  if (!is_lossy_on_purpose(facts))
    return Outcome::not_checked("PFC is off, and nothing shows that it is meant");
  if (facts.delta != nullptr) {
    for (Evidence& e : counters_seen(*facts.delta, {"adaptive_retransmissions", "slow_restarts"}))
      seen.push_back(std::move(e));
  }
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = std::move(seen);
  finding.cause =
      "This port works in lossy mode: no PFC, losses are repaired by adaptive retransmission. That is legal.";
  finding.fix = advise("Nothing to fix; measure it against a lossless class before you decide for good.");
  return Outcome::found(std::move(finding));
}

constexpr Rule kTrafficRules[] = {
    {.id = "OPS-3",
     .title = "Rates come from a measured interval",
     .condition = "Counters were read twice, and the time between was measured.",
     .why = "A rate over a requested sleep is wrong under load; a total since boot is no rate.",
     .needs = "Two samples.",
     .decided = "Passes with the measured time and how many counters have an increment.",
     .fix = "Watch for longer.",
     .source = "Mellanox/mlnx-tools#158",
     .gates = {.infiniband_too = true, .any_function = true, .any_nic = true, .idle_too = true},
     .judge = judge_interval},
    {.id = "MAP-6",
     .title = "RoCE really moves in its class",
     .condition = "At least 90 % of the RDMA packets of each busy direction, CNPs in their own class left "
                  "out, move in the RoCE priority.",
     .why = "Settings show where marked packets would go; only counters show whether applications mark them.",
     .needs = "rdma_tx_packets, rdma_rx_packets and packets per priority over a busy interval; CNPs.",
     .decided = "Each direction on its own: what leaves is this host's doing, what arrives the peer's or a "
                "switch's. Not judged where the class map itself is broken (MAP-1, MAP-5).",
     .fix = "Set the ToS byte in the application.",
     .source = "Linux mlx5 counters documentation; openucx/ucx#10325",
     .gates = {.texts_speak = true},
     .judge = judge_class_in_use},
    {.id = "LOSS-1",
     .title = "RoCE packets are not lost",
     .condition = "Sequence errors, timeouts and duplicates stay below 1 in 100 000 RDMA packets.",
     .why = "Go-back-N repeats a whole window for each loss.",
     .needs = "out_of_sequence, sequence_naks_received, ack_timeouts, duplicate_requests and others; RDMA "
              "packets.",
     .decided = "Largest of these over all RDMA packets: warning from 0.001 %, critical from 0.1 %. Lossy "
                "operation is allowed up to 0.1 %.",
     .fix = "The link first, then the class at every hop.",
     .source = "linux-rdma/perftest#219; Linux hw/mlx5/counters.c",
     .gates = {.texts_speak = true},
     .judge = judge_loss},
    {.id = "LOSS-2",
     .title = "Receivers are ready",
     .condition = "No message meets an empty receive queue, here or at the peer.",
     .why = "Each costs a wait of up to 655 ms, with no loss and no error anywhere.",
     .needs = "no_receive_wqe, rnr_naks_received, rnr_retries_exceeded.",
     .decided = "Finding if any rises, unless this host is a slow receiver anyway (PFC-6).",
     .fix = "Receive queue depth, RNR timer.",
     .source = "InfiniBand specification, RNR NAK timer; NVIDIA/daqiri#126",
     .gates = {.infiniband_too = true, .any_function = true, .texts_speak = true},
     .judge = judge_receiver_ready},
    {.id = "LOSS-3",
     .title = "No work requests are flushed",
     .condition = "Flush errors do not rise.",
     .why = "They follow from a queue pair that failed or was torn down; taken for loss they mislead.",
     .needs = "request_flush_errors, response_flush_errors; completion errors of all kinds beside them.",
     .decided = "Info if any rises, with how many other errors there were. Never counted as loss.",
     .fix = "Find the first error.",
     .source = "InfiniBand specification, work request flushed; facebookincubator/gloo#147",
     .gates = {.infiniband_too = true, .any_function = true, .idle_too = true, .texts_speak = true},
     .judge = judge_flushes},
    {.id = "LOSS-4",
     .title = "The NIC drops nothing it receives",
     .condition = "Receive discards do not rise.",
     .why = "They are the loss that PFC is there to prevent.",
     .needs = "rx_discards_phy, discards per priority, rx_out_of_buffer.",
     .decided = "Finding if any rises; host queues are named if rx_out_of_buffer rises too, else the NIC's "
                "buffer and PCIe.",
     .fix = "PFC and headroom, then PCIe.",
     .source = "Linux mlx5 counters documentation",
     .gates = {.idle_too = true, .texts_speak = true},
     .judge = judge_nic_drops},
    {.id = "OPS-5",
     .title = "Lossy operation is known as such",
     .condition = "A port without PFC is declared lossy, or shows adaptive retransmission at work.",
     .why = "Lossy RoCE is legal and must be neither nagged about nor confused with a forgotten PFC.",
     .needs = "PFC; adaptive_retransmissions over an interval, or a declaration.",
     .decided = "Info if lossy operation is evident. A port without PFC and without evidence is MAP-3's.",
     .fix = "None.",
     .source = "NVIDIA community DOC-2499; openucx/ucx#6000",
     .gates = {},
     .judge = judge_lossy_mode},
};

}  // namespace

std::span<const Rule> traffic_rules() { return kTrafficRules; }

}  // namespace rocetune::diagnose
