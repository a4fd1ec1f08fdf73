// Loss, as counters in texts show it.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"
#include "agent/evidence/host_tools/tc_qdisc.h"

namespace rocetune::diagnose {
namespace {

// ---- LOSS-1 ----

// What only a gap in the sequence makes. Duplicates and timeouts may have other causes.
constexpr std::string_view kGapSigns[] = {"out_of_sequence", "sequence_naks_received", "implied_nak_errors"};

std::optional<std::uint64_t> worst_gap(const CountedPort& port) {
  std::optional<std::uint64_t> out;
  for (const std::string_view sign : kGapSigns) {
    if (const auto count = port.count(sign)) out = std::max(out.value_or(0), *count);
  }
  return out;
}

// RDMA packets of the direction that the sign is about; of either, if only one is counted.
std::optional<std::uint64_t> rdma_packets_of(const CountedPort& port) {
  const auto sent = port.count("rdma_tx_packets"), received = port.count("rdma_rx_packets");
  if (!sent && !received) return std::nullopt;
  return std::max(sent.value_or(0), received.value_or(0));
}

std::vector<Evidence> loss_shown(const CountedPort& port) {
  std::vector<Evidence> out = port.all({"out_of_sequence", "sequence_naks_received", "implied_nak_errors",
                                        "ack_timeouts", "adaptive_retransmissions", "duplicate_requests"});
  std::erase_if(out, [](const Evidence& e) { return e.value == "0"; });
  return out;
}

struct LossSeen {
  const CountedPort* port;
  Told told;
  std::uint64_t gaps;
};

bool is_receiver(const CountedPort& port) { return port.known("out_of_sequence") > 0; }
bool is_sender(const CountedPort& port) {
  return port.known("sequence_naks_received") + port.known("implied_nak_errors") > 0;
}

// Drops of the queues that somebody showed: switch or host.
struct QueueDrops {
  std::vector<Evidence> evidence;
  double ratio = 0;  // the worst
};

QueueDrops queue_drops(const DossierFacts& facts) {
  QueueDrops out;
  for (const auto& [document, content] : facts.dossier.all<evidence::TcQdisc>()) {
    for (const evidence::Qdisc& qdisc : content->qdiscs) {
      if (!qdisc.is_root || qdisc.dropped.value_or(0) == 0) continue;
      const std::string where = qdisc.device.empty() ? "" : " of " + qdisc.device;
      out.evidence.push_back(
          shown("dropped by the root queue" + where, *qdisc.dropped, "packets", *document, qdisc.line));
      if (!qdisc.sent_packets) continue;
      const double offered = static_cast<double>(*qdisc.dropped) + static_cast<double>(*qdisc.sent_packets);
      out.ratio = std::max(out.ratio, static_cast<double>(*qdisc.dropped) / offered);
      out.evidence.push_back(shown("loss ratio" + where,
                                   fmt::format("{:.2f}", static_cast<double>(*qdisc.dropped) / offered * 100),
                                   "%", *document, qdisc.line));
    }
  }
  return out;
}

bool has_damaged_frames(const DossierFacts& facts) {
  return std::any_of(facts.counted.begin(), facts.counted.end(), [](const CountedPort& port) {
    return !port.is_total && port.known("rx_symbol_errors") + port.known("rx_crc_errors") > 0;
  });
}

Finding loss_finding(const DossierFacts& facts, const std::vector<LossSeen>& seen) {
  const LossSeen& worst =
      *std::max_element(seen.begin(), seen.end(), [](const LossSeen& a, const LossSeen& b) {
        return std::make_pair(is_receiver(*a.port), a.gaps) < std::make_pair(is_receiver(*b.port), b.gaps);
      });
  Finding finding;
  finding.subject = worst.port->subject();
  int senders = 0;
  double share = 0;
  std::string receivers;
  for (const LossSeen& one : seen) {
    senders += is_sender(*one.port);
    if (is_receiver(*one.port)) receivers += (receivers.empty() ? "" : ", ") + one.port->subject();
    append(finding.evidence, loss_shown(*one.port));
    const auto packets = rdma_packets_of(*one.port);
    if (!packets || *packets == 0) continue;
    share = std::max(share, static_cast<double>(one.gaps) / static_cast<double>(*packets));
    finding.evidence.push_back(share_shown("gaps per RDMA packet", one.gaps, *packets, *one.port));
  }
  QueueDrops drops = queue_drops(facts);
  share = std::max(share, drops.ratio);
  append(finding.evidence, std::move(drops.evidence));
  const bool is_total = worst.port->is_total;
  finding.severity =
      !is_total && share >= facts.policy.critical_loss.value() ? Severity::critical : Severity::warning;
  finding.confidence = is_total ? Confidence::low : Confidence::medium;
  const bool damaged = has_damaged_frames(facts);
  std::string why;
  if (damaged) {
    why = " The link damages frames at the same time (LINK-1): cure that first.";
  } else if (drops.ratio > 0) {
    why = fmt::format(
        " A queue on the way dropped {:.1f} % of what it was offered: congestion, in a class that is not "
        "lossless and not slowed by ECN.",
        drops.ratio * 100);
  } else if (senders > 1) {
    why = " Several senders are told of losses: congestion at the shared egress is likelier than a bad link.";
  } else {
    why = " Whether a queue overflows or a link is bad, these counters do not tell.";
  }
  finding.cause =
      fmt::format("RoCE packets are lost{} and go-back-N repeats whole windows.{}{}",
                  receivers.empty() ? "" : " on the way to " + receivers, why, total_caution(*worst.port));
  finding.fix =
      advise(damaged ? "Swap cable or module (LINK-1)."
                     : "Find the queue that drops: per-queue drops of the switch port towards the receiver "
                       "(interface drop counters may stay 0). Make the class lossless on every hop or let "
                       "ECN act below the buffer's limit; if no queue drops, look for a bad link (LINK-1).");
  return finding;
}

Outcome judge_told_loss(const DossierFacts& facts) {
  std::vector<LossSeen> many;
  std::vector<Evidence> good;
  std::vector<const CountedPort*> few;
  for (const CountedPort& port : facts.counted) {
    const auto gaps = worst_gap(port);
    switch (told_of(port, gaps, rdma_packets_of(port), facts.policy.notable_loss, facts.policy)) {
      case Told::nothing:
        break;
      case Told::none:
        append(good, port.all({"out_of_sequence", "sequence_naks_received", "implied_nak_errors"}));
        break;
      case Told::few:
        few.push_back(&port);
        break;
      case Told::many:
        many.push_back({&port, Told::many, *gaps});
        break;
    }
  }
  if (!many.empty()) return Outcome::found(loss_finding(facts, many));
  if (!few.empty()) {
    Finding finding;
    finding.severity = Severity::info;
    finding.confidence = Confidence::low;
    finding.subject = few.front()->subject();
    for (const CountedPort* port : few) append(finding.evidence, loss_shown(*port));
    finding.cause =
        fmt::format("A few RoCE packets were repeated {}: too few to matter.", few.front()->span());
    finding.fix = advise("Nothing now; take a second dump under load if throughput is what is missing.");
    return Outcome::found(std::move(finding));
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked(
      "no sequence counters of RDMA devices (out_of_sequence, packet_seq_err or the like) are among the "
      "inputs");
}

// ---- LOSS-4 ----

Outcome judge_told_discards(const DossierFacts& facts) {
  return judge_counted(
      facts,
      "no receive discards of a port (rx_discards_phy or the driver's name for it) are among the inputs",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        std::optional<std::uint64_t> drops = port.count("rx_discards_phy");
        for (const std::string_view name : {"rx_discards", "rx_buffer_discards", "rx_congestion_discards"}) {
          if (const auto sum = port.sum(name)) drops = std::max(drops.value_or(0), *sum);
        }
        std::vector<Evidence> seen =
            port.all({"rx_discards_phy", "rx_discards", "rx_buffer_discards", "rx_congestion_discards",
                      "pci_buffer_overflow", "rx_out_of_buffer"});
        std::optional<std::uint64_t> packets = port.count("rx_packets_phy");
        if (!packets) packets = port.sum("rx_packets");
        const Told told = told_of(port, drops, packets, facts.policy.notable_loss, facts.policy);
        if (told == Told::nothing) return;
        if (told == Told::none) {
          if (!seen.empty()) append(good, std::move(seen));
          return;
        }
        const bool many = told == Told::many;
        if (many && packets && *packets > 0)
          seen.push_back(share_shown("dropped per packet", *drops, *packets, port));
        const auto queues = port.count("rx_out_of_buffer");
        Finding finding;
        finding.subject = port.subject();
        finding.severity = !many ? Severity::info : port.is_total ? Severity::warning : Severity::critical;
        finding.confidence = port.is_total ? Confidence::low : queues ? Confidence::high : Confidence::medium;
        finding.evidence = std::move(seen);
        finding.cause = fmt::format(
            "The NIC drops what it receives ({}){}.{}", port.span(),
            !queues        ? ": its buffer fills faster than the host drains it, or the class is not lossless"
            : *queues == 0 ? " although host queues have room (rx_out_of_buffer 0): its pipeline or PCIe "
                             "drains slower than the wire, or the class is not lossless"
                           : ", and host queues run out of buffers too",
            total_caution(port));
        finding.fix =
            advise(queues.value_or(0) > 0
                       ? "Larger receive rings and more queues; for RDMA see LOSS-2."
                       : "Check that the class has PFC and headroom (MAP-5, PFC-3), then PCIe width, speed "
                         "and MaxReadReq (PCIE-1), ACS and IOMMU (PCIE-2), and packet rate per queue.");
        findings.push_back(std::move(finding));
      });
}

}  // namespace

std::span<const Rule> told_loss_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LOSS-1",
       .title = "RoCE packets are not lost and repeated (pasted counters)",
       .condition = "Sequence errors stay below 0.001 % of RDMA packets.",
       .why = "Go-back-N repeats a window for each loss.",
       .needs =
           "hw_counters or rdma statistic, best of both ends and of two moments; queue drops as evidence.",
       .decided =
           "Gaps (out_of_sequence, NAKs) per RDMA packet; where no packets are counted, from 10 between two "
           "dumps or 1000 in one. Duplicates and timeouts are evidence, not proof. One finding for all "
           "hosts; queue drops or several senders speak for congestion, damaged frames for the link.",
       .fix = "Find the queue that drops; make the class lossless or let ECN act; or cure the link.",
       .source = "Linux hw/mlx5/counters.c, sw/rxe/rxe_hw_counters.c; linux-rdma/perftest#219",
       .gates = {},
       .judge = judge_told_loss},
      {.id = "LOSS-4",
       .title = "The NIC drops nothing on receive (pasted counters)",
       .condition = "Receive discards of port and priorities stay below 0.001 % of packets.",
       .why = "They are loss in the host, not in the network.",
       .needs = "rx_discards_phy, rx_prioN_discards or the driver's names; rx_out_of_buffer beside them.",
       .decided = "By share of packets; where none are counted, from 10 between two dumps or 1000 in one. "
                  "rx_out_of_buffer 0 beside them: NIC or PCIe; above 0: host queues.",
       .fix = "PFC and headroom of the class, PCIe; or rings and queues.",
       .source = "Linux mlx5 counters documentation; NVIDIA developer forum 364755",
       .gates = {},
       .judge = judge_told_discards},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
