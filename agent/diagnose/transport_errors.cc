// Rules over what logs say of verbs: failed completions, memory, queue pairs.
#include <algorithm>
#include <map>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/verbs_words.h"

namespace rocetune::diagnose {
namespace {

constexpr std::size_t kMostQuotes = 4;

// The failed completions of a status, first few of each document.
struct CompletionSeen {
  const evidence::Document* document;
  const evidence::FailedCompletion* completion;
};
struct Completions {
  std::vector<CompletionSeen> first;
  std::uint64_t total = 0;
};
Completions completions_in(const evidence::Dossier& dossier, int status) {
  Completions out;
  for (const SignsSeen& seen : signs_in(dossier)) {
    out.total += seen.signs->by_status[static_cast<std::size_t>(status)];
    for (const evidence::FailedCompletion& completion : seen.signs->completions.first) {
      if (completion.status == status) out.first.push_back({seen.document, &completion});
    }
  }
  return out;
}

std::vector<Evidence> evidence_of(const Completions& completions) {
  std::vector<Evidence> out;
  for (const CompletionSeen& seen : completions.first) {
    if (out.size() >= kMostQuotes) break;
    const evidence::FailedCompletion& one = *seen.completion;
    Evidence evidence = quoted(fmt::format("completion status {}", one.status), one.quote, *seen.document);
    out.push_back(std::move(evidence));
  }
  if (completions.total > out.size() && !out.empty()) {
    out.push_back(
        shown("such completions in all", completions.total, "", *completions.first.front().document));
  }
  return out;
}

// Nothing of that kind in any log: a pass, if there are logs.
Outcome none_logged(const DossierFacts& facts, const char* what) {
  const std::vector<SignsSeen> logs = signs_in(facts.dossier);
  if (logs.empty()) return Outcome::not_checked("no log of a program that uses RDMA is among the inputs");
  return Outcome::passed({shown(what, 0, "", *logs.front().document)});
}

std::string subject_of_completions(const Completions& completions) {
  std::vector<std::string> names;
  for (const CompletionSeen& seen : completions.first) {
    std::string name = !seen.completion->quote.host.empty() ? seen.completion->quote.host
                       : seen.document->host                ? *seen.document->host
                                                            : seen.document->file;
    if (!seen.completion->device.empty()) name += " " + seen.completion->device;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return listed(names, 3);
}

// ---- MR-1 ----

std::string registration_cause(std::optional<int> error) {
  if (error == 12) {
    return "The host refused to lock the memory (ENOMEM): the locked-memory limit of the process is too "
           "small, or "
           "memory of that kind cannot be pinned.";
  }
  if (error == 14) {
    return "The memory could not be registered (EFAULT): it is not memory that the NIC's driver can pin, as "
           "GPU "
           "memory is without peer memory support.";
  }
  if (error == 22 || error == 95) {
    return "The driver refused to register the memory: it does not take that kind of memory or access flags "
           "(GPU memory without peer memory or DMA-BUF support, relaxed ordering).";
  }
  return "Memory could not be registered with the NIC.";
}

Outcome judge_memory(const DossierFacts& facts) {
  std::vector<Finding> findings;
  const Completions protection = completions_in(facts.dossier, evidence::wc::kLocalProtection);
  if (!protection.first.empty()) {
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = subject_of_completions(protection);
    finding.evidence = evidence_of(protection);
    for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
      if (!log->cqe) continue;
      finding.evidence.push_back(shown("error CQE: vendor syndrome, syndrome, QP",
                                       fmt::format("0x{:02x}, 0x{:02x}, 0x{:x}", log->cqe->vendor_syndrome,
                                                   log->cqe->syndrome, log->cqe->qpn),
                                       "", *document, log->cqe->line));
    }
    finding.cause =
        "A NIC was not allowed to reach its own host's buffer (local protection error): the path between NIC "
        "and "
        "GPU memory or the registration is broken. No packet was lost; opcode and length of a failed "
        "completion mean "
        "nothing.";
    finding.fix = advise(
        "Run once with NCCL_NET_GDR_LEVEL=LOC: if that works, slowly, the GPU path is at fault. Then turn "
        "off ACS "
        "redirect on the PCIe ports between NIC and GPU and the translating IOMMU (iommu=pt) on bare metal, "
        "and check "
        "that peer memory or DMA-BUF is in use. Leave PFC, ECN and the switch alone.",
        {"lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'", "cat /proc/cmdline",
         "lsmod | grep -E 'peermem|nv_peer'"});
    findings.push_back(std::move(finding));
  }
  Finding refused;
  std::optional<int> error;
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::FailedRegistration& failed : seen.signs->registrations.first) {
      if (refused.evidence.size() < kMostQuotes) {
        refused.evidence.push_back(quoted("registration of memory", failed.quote, *seen.document));
      }
      if (!error) error = failed.error;
      if (refused.subject.empty())
        refused.subject = failed.quote.host.empty() ? seen.document->file : failed.quote.host;
    }
  }
  if (!refused.evidence.empty()) {
    refused.severity = Severity::critical;
    refused.cause = registration_cause(error);
    refused.fix = advise(
        "Give the process an unlimited memlock limit (ulimit -l; in containers --ulimit memlock=-1), load "
        "nvidia-peermem or use DMA-BUF for GPU memory, and try without relaxed ordering. It is not the "
        "network.",
        {"ulimit -l", "lsmod | grep peermem", "dmesg | grep -iE 'peermem|mlx5|iommu'"});
    findings.push_back(std::move(refused));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  return none_logged(facts, "local protection errors and refused registrations");
}

// ---- PATH-3 ----

struct Moment {
  bool at_first = false;  // the very first request failed
  bool in_traffic = false;
};

// UCX numbers the requests of a queue pair; perftest shows no row.
Moment moment_of(const Completions& completions) {
  Moment out;
  for (const CompletionSeen& seen : completions.first) {
    out.at_first |= seen.completion->is_first_request;
    out.in_traffic |= seen.completion->is_later_request;
  }
  return out;
}

Outcome judge_retries(const DossierFacts& facts) {
  const Completions lost = completions_in(facts.dossier, evidence::wc::kRetryExceeded);
  if (lost.first.empty()) return none_logged(facts, "completions with transport retries exceeded");
  const Moment moment = moment_of(lost);
  Finding finding;
  finding.severity = Severity::critical;
  finding.subject = subject_of_completions(lost);
  finding.evidence = evidence_of(lost);
  finding.confidence = Confidence::high;
  finding.cause =
      "The other end did not acknowledge in spite of all retries (transport retry counter exceeded; vendor "
      "code 129 is "
      "0x81).";
  if (moment.at_first && !moment.in_traffic) {
    finding.cause += " Already the first request was lost, so the two ends never reached each other.";
  } else if (moment.in_traffic && !moment.at_first) {
    finding.cause += " It happened in the middle of traffic: the path worked before.";
  } else {
    finding.cause +=
        " At once, it means that the ends never reached each other; under load or now and then, loss, a "
        "flapping link or "
        "a pause storm.";
  }
  finding.fix = advise(
      "In this order: compare the GID tables of both ends and use a RoCE v2 GID with an IPv4 address on each "
      "(GID-1, "
      "GID-2); run ib_write_bw between the same two devices with the same GID indexes and traffic class; "
      "ping with full "
      "size and DF between them (PATH-1, MTU-2); look for a filter on UDP 4791 (PATH-2). If it works and "
      "fails only under "
      "load, read link, sequence and pause counters of the named device twice (LINK-2, LOSS-1, PFC-5). "
      "Status 5 lines "
      "behind it are consequences.",
      {"show_gids", "ib_write_bw -d DEVICE -x GID_INDEX PEER", "ping -M do -s 8972 PEER"});
  return Outcome::found(std::move(finding));
}

// ---- PATH-4 ----

std::string setup_cause(std::optional<int> error) {
  switch (error.value_or(0)) {
    case 110:
      return "The kernel could not resolve the peer's address while it set up the queue pair (ETIMEDOUT): "
             "the GID in use "
             "is link-local or its subnet is reached by another interface (several NICs in one subnet, ARP, "
             "rp_filter).";
    case 61:
      return "The GID index in use is an empty slot of the table (ENODATA): the address moved to another "
             "index or is gone.";
    case 22:
      return "The GID in use has the wrong type or is invalid for this peer (EINVAL), as RoCE v1 against v2, "
             "IPv4 against "
             "IPv6, or an empty remote GID.";
    case 19:
      return "The device or the netdev behind the GID is not there (ENODEV): a wrong device, a GID of "
             "another namespace, or "
             "an address family that the peer's GID does not have.";
    case 101:
    case 113:
      return "There is no route to the peer's GID from this device (ENETUNREACH, EHOSTUNREACH).";
    default:
      return "The queue pair could not be connected: GID, route or device do not fit.";
  }
}

// NICs of one process whose IPv4 GIDs share their first 24 bits: most likely one subnet.
std::string like_subnets(const evidence::Signs& signs) {
  for (const evidence::UsedGid& a : signs.gids.first) {
    for (const evidence::UsedGid& b : signs.gids.first) {
      if (a.device >= b.device || a.gid.kind() != evidence::GidText::Kind::ipv4 ||
          b.gid.kind() != evidence::GidText::Kind::ipv4 || a.gid == b.gid)
        continue;
      if (std::equal(a.gid.bytes().begin(), a.gid.bytes().begin() + 15, b.gid.bytes().begin())) {
        return fmt::format(
            " {} ({}) and {} ({}) of one host look like one subnet, so that neighbours and routes resolve on "
            "the other NIC (GID-3).",
            a.device, a.gid.text(), b.device, b.gid.text());
      }
    }
  }
  return {};
}

Outcome judge_queue_pairs(const DossierFacts& facts) {
  std::map<int, Finding> by_error;
  std::vector<Evidence> control;
  std::string subnets;
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::FailedQpSetup& failed : seen.signs->qp_setups.first) {
      Finding& finding = by_error[failed.error.value_or(0)];
      if (finding.evidence.size() < kMostQuotes) {
        finding.evidence.push_back(quoted("queue pair set-up", failed.quote, *seen.document));
      }
      if (finding.subject.empty()) {
        finding.subject = !failed.device.empty()       ? failed.device
                          : !failed.quote.host.empty() ? failed.quote.host
                                                       : seen.document->file;
      }
    }
    if (!seen.signs->qp_setups.empty() && subnets.empty()) subnets = like_subnets(*seen.signs);
    for (const evidence::Quote& quote : seen.signs->other_errors.first) {
      if (!quote.text.starts_with(" Unable to Connect") &&
          quote.text.find("Unable to Connect the HCA") == std::string::npos)
        continue;
      Finding& finding = by_error[0];
      if (finding.evidence.size() < kMostQuotes)
        finding.evidence.push_back(quoted("connection", quote, *seen.document));
      if (finding.subject.empty()) finding.subject = seen.document->file;
    }
    for (const evidence::Quote& quote : seen.signs->tcp_control.first)
      control.push_back(quoted("TCP", quote, *seen.document));
  }
  if (by_error.empty()) {
    if (!control.empty()) {
      return Outcome::not_checked(
          fmt::format("perftest's own TCP connection failed ({}): no queue pair was set up, no RDMA packet "
                      "was sent; check host name, "
                      "port 18515 and firewall first",
                      control.front().value));
    }
    return none_logged(facts, "failures to set up a queue pair");
  }
  std::vector<Finding> findings;
  for (auto& [error, finding] : by_error) {
    finding.severity = Severity::critical;
    finding.cause = setup_cause(error == 0 ? std::nullopt : std::optional(error)) +
                    " No data packet was sent yet, so it is neither loss nor PFC." + subnets;
    finding.fix = advise(
        "Compare the GID tables of both ends by content, leave the index to the library (or give each side "
        "its own), and "
        "check the route and neighbour of the peer's address on that very interface; with several NICs in "
        "one subnet use one "
        "subnet per rail, or policy routing with arp_ignore=1, arp_announce=2 and rp_filter 0 or 2 (GID-3).",
        {"show_gids", "ip route get PEER_ADDRESS from OWN_ADDRESS", "ip neigh show dev INTERFACE"});
    findings.push_back(std::move(finding));
  }
  return Outcome::found(std::move(findings));
}

// ---- LOSS-3 ----

Outcome judge_logged_flushes(const DossierFacts& facts) {
  const Completions flushed = completions_in(facts.dossier, evidence::wc::kFlushed);
  if (flushed.first.empty()) return none_logged(facts, "flushed requests");
  Finding finding;
  finding.severity = Severity::info;
  finding.subject = subject_of_completions(flushed);
  finding.evidence = evidence_of(flushed);
  finding.cause =
      "Requests were flushed (status 5): the queue pair had failed or been torn down before. That is a "
      "consequence, not a "
      "loss of packets.";
  finding.fix = advise(
      "Look for the first completion with another status, at this end or the other; nothing is to be done "
      "about the flushes "
      "themselves.");
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> transport_errors_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MR-1",
       .title = "NICs may reach the memory that programs use",
       .condition = "No completion with local protection error, no refused registration of memory.",
       .why = "ACS, IOMMU, missing peer memory or a small locked-memory limit break it; the network has no "
              "part in it.",
       .needs = "A log of NCCL, UCX or another program that uses verbs.",
       .decided = "Critical for status 4 or a failed ibv_reg_mr.",
       .fix = "Clear the GPU path: ACS, IOMMU, peer memory or DMA-BUF; raise the memlock limit.",
       .source = "NVIDIA/nccl#928, NVIDIA/nccl-tests#24, #252",
       .gates = {},
       .judge = judge_memory},
      {.id = "PATH-3",
       .title = "The other end acknowledges",
       .condition = "No completion with transport retries exceeded (status 12, syndrome 0x15).",
       .why = "Silence has several causes that must not be guessed: never connected, or lost in traffic.",
       .needs = "A log of NCCL, UCX, perftest or another program that uses verbs.",
       .decided =
           "Critical; at the first request it was never connected, later it is loss or a link that failed.",
       .fix = "GIDs of both ends, then a verbs test on the same pair, then MTU and filters, then loss.",
       .source = "NVIDIA/nccl#426, openucx/ucx#2434",
       .gates = {},
       .judge = judge_retries},
      {.id = "PATH-4",
       .title = "Queue pairs can be set up",
       .condition = "No modify_qp fails.",
       .why = "It fails before any packet: address resolution, GID slot or device, never loss.",
       .needs = "A log of NCCL, UCX, perftest or another program that uses verbs.",
       .decided = "Critical, explained by errno: 110, 61, 22, 19, 101.",
       .fix = "GID by type and subnet, route and neighbour on that device.",
       .source = "NVIDIA/nccl#769, kvcache-ai/Mooncake#204",
       .gates = {},
       .judge = judge_queue_pairs},
      {.id = "LOSS-3",
       .title = "Flushed requests are not counted as loss",
       .condition = "Status 5 is only a consequence.",
       .why = "Every request that is still posted when a queue pair fails or is closed ends with it.",
       .needs = "A log of a program that uses verbs.",
       .decided = "Info where such lines stand.",
       .fix = "Find the first real error.",
       .source = "pytorch/gloo#147",
       .gates = {},
       .judge = judge_logged_flushes},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
