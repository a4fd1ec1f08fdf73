// The physical link and bonds, as texts show them.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "agent/diagnose/finding_groups.h"
#include "agent/diagnose/rule.h"
#include "agent/diagnose/told.h"
#include "agent/evidence/host_tools/bonding.h"
#include "agent/evidence/host_tools/ethtool_link.h"

namespace rocetune::diagnose {
namespace {

// ---- LINK-1 ----

std::optional<std::uint64_t> frames_received(const CountedPort& port) {
  if (const auto all = port.count("rx_packets_phy")) return all;
  // A grep of one priority is not all of them.
  for (int p = 0; p < Priority::kCount; ++p) {
    if (!port.count("rx_packets", Priority(p))) return std::nullopt;
  }
  return port.sum("rx_packets");
}

// "link.worst_lane" of the file that the corrected bits come from.
std::optional<Evidence> uneven_lane(const DossierFacts& facts, const CountedPort& port) {
  const auto bits = port.places.find({"rx_corrected_bits", {}});
  for (const evidence::Document& document : facts.dossier.documents()) {
    if (document.file != (bits != port.places.end() ? bits->second.document->file : port.document->file))
      continue;
    double lane = -1, share = 0;
    for (const evidence::Fact& fact : document.facts) {
      if (fact.name == "link.worst_lane") lane = fact.value;
      if (fact.name == "link.worst_lane_share") share = fact.value;
    }
    if (lane < 0 || share < facts.policy.uneven_lane.value()) continue;
    return shown(fmt::format("share of corrected bits on lane {}", static_cast<int>(lane)),
                 fmt::format("{:.1f}", share * 100), "%", document);
  }
  return std::nullopt;
}

void judge_told_errors(const DossierFacts& facts, const CountedPort& port, std::vector<Finding>& findings,
                       std::vector<Evidence>& good) {
  const std::vector<std::string_view> names{"rx_symbol_errors", "rx_pcs_symbol_errors", "rx_crc_errors"};
  std::optional<std::uint64_t> worst;
  for (const std::string_view name : names) {
    if (const auto count = port.count(name)) worst = std::max(worst.value_or(0), *count);
  }
  std::vector<Evidence> seen = port.all(names);
  append(seen, port.all({"rx_corrected_bits"}));
  const auto lane = uneven_lane(facts, port);
  const auto frames = frames_received(port);
  Told told = told_of(port, worst, frames, facts.policy.notable_frame_errors, facts.policy);
  // Any rise between two dumps counts: a good link damages none in minutes.
  if (told == Told::few && !port.is_total) told = Told::many;
  if (lane) seen.push_back(*lane);
  if (told == Told::nothing && !lane) return;
  if (told == Told::none && !lane) {
    append(good, std::move(seen));
    return;
  }
  Finding finding;
  finding.subject = port.subject();
  if (told == Told::many && frames && *frames > 0)
    seen.push_back(share_shown("damaged per frame", *worst, *frames, port));
  finding.evidence = std::move(seen);
  finding.fix =
      advise("Look at both ends, clean or swap cable or module, then the port; no PFC or ECN change helps.",
             {"mlxlink -d DEVICE -m -c"});
  if (told == Told::many) {
    finding.confidence = port.is_total ? Confidence::medium : Confidence::high;
    finding.cause = fmt::format(
        "The physical link damages frames{}: cable, module or port. Such loss is not congestion.{}",
        lane ? ", and one lane holds nearly all corrected bits" : "", total_caution(port));
  } else {
    finding.severity = Severity::info;
    finding.confidence = Confidence::low;
    finding.cause =
        lane ? "FEC corrects nearly all its bits on one lane: no frame is lost by that, but this lane's "
               "fibre, connector or laser is the weak one."
             : fmt::format("A few frames were damaged on the link {}: too few to matter.", port.span());
  }
  findings.push_back(std::move(finding));
}

// "uncorrectable_blocks" of `ethtool --show-fec`: frames that FEC gave up.
void judge_told_fec(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const std::vector<const evidence::Pair*> pairs = facts.dossier.pairs_of("ethtool-fec");
  for (const evidence::Document* document : facts.dossier.of_format("ethtool-fec")) {
    const evidence::Counter* blocks = document->find_counter("uncorrectable_blocks");
    if (blocks == nullptr) continue;
    std::optional<std::uint64_t> risen;
    for (const evidence::Pair* pair : pairs) {
      if (pair->after == document) risen = pair->delta("uncorrectable_blocks");
    }
    const Evidence seen =
        shown("uncorrectable_blocks", risen.value_or(blocks->value),
              risen ? "since the earlier dump" : "since boot or reset", *document, blocks->line);
    if (blocks->value == 0 || risen == std::uint64_t{0}) {
      good.push_back(seen);
      continue;
    }
    Finding finding;
    finding.subject = blocks->device.empty() ? document->file : blocks->device;
    finding.severity = risen || blocks->value >= facts.policy.told_total ? Severity::warning : Severity::info;
    finding.confidence = risen ? Confidence::high : Confidence::medium;
    finding.evidence = {seen};
    finding.cause =
        "FEC meets blocks that it cannot correct: the link loses frames. Such loss is not congestion.";
    finding.fix = advise("Look at both ends, clean or swap cable or module; no PFC or ECN change helps.",
                         {"mlxlink -d DEVICE -m -c"});
    findings.push_back(std::move(finding));
  }
}

Outcome judge_told_link_errors(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const CountedPort& port : facts.counted) judge_told_errors(facts, port, findings, good);
  judge_told_fec(facts, findings, good);
  return Outcome::of(std::move(findings), std::move(good),
                     "no symbol, CRC or FEC error counters are among the inputs");
}

// ---- LINK-2 ----

void judge_told_downs(const DossierFacts& facts, const CountedPort& port, std::vector<Finding>& findings,
                      std::vector<Evidence>& good) {
  const auto downs = port.count("link_downs");
  if (!downs) return;
  // A total counts every reboot of the neighbour since boot.
  if (*downs < (port.is_total ? facts.policy.told_increase : 1)) {
    good.push_back(port.evidence("link_downs"));
    return;
  }
  Finding finding;
  finding.subject = port.subject();
  finding.severity = port.is_total ? Severity::info : Severity::warning;
  finding.evidence = {port.evidence("link_downs")};
  finding.confidence = port.is_total ? Confidence::low : Confidence::high;
  finding.cause = fmt::format(
      "The link went down {} {}: every flap stops the job, moves GIDs and may drop run-time QoS.{}",
      *downs == 1 ? "once" : fmt::format("{} times", *downs), port.span(), total_caution(port));
  finding.fix = advise("Look at cable, module, power and autonegotiation, at both ends.");
  findings.push_back(std::move(finding));
}

void judge_told_speed(const evidence::Document& document, const evidence::EthtoolLink& link,
                      std::vector<Finding>& findings, std::vector<Evidence>& good) {
  if (!link.speed || link.detected == false) return;
  const Evidence speed = shown("Speed", to_text(*link.speed), "", document, link.speed_line);
  // Both ends offer more than they run at.
  if (!link.fastest_of_partner || !link.fastest_advertised ||
      std::min(*link.fastest_of_partner, *link.fastest_advertised) <= *link.speed) {
    good.push_back(speed);
    return;
  }
  const BitRate possible = std::min(*link.fastest_of_partner, *link.fastest_advertised);
  Finding finding;
  finding.subject = link.device.empty() ? document.file : link.device;
  finding.confidence = Confidence::medium;
  finding.evidence = {speed, shown("fastest mode of both ends", to_text(possible), "", document)};
  finding.cause =
      fmt::format("The port runs at {} although both ends offer {}: negotiation or training fell back.",
                  to_text(*link.speed), to_text(possible));
  finding.fix =
      advise("Look at cable and module (a lane may be dead), FEC and autonegotiation at both ends.");
  findings.push_back(std::move(finding));
}

Outcome judge_told_link_state(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const CountedPort& port : facts.counted) judge_told_downs(facts, port, findings, good);
  for (const auto& [document, link] : facts.dossier.all<evidence::EthtoolLink>()) {
    judge_told_speed(*document, *link, findings, good);
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "neither link-down counters nor link settings are among the inputs");
}

// ---- LAG-1 ----

constexpr std::string_view kNoPartner = "00:00:00:00:00:00";

// Why LACP is not up at the other end; empty: it is, as far as the text shows.
std::vector<std::string> lacp_faults(const evidence::BondText& text) {
  std::vector<std::string> out;
  if (text.bond.partner_mac == kNoPartner) out.push_back("no LACP partner answers (its MAC is zero)");
  std::set<std::string> aggregators;
  int churned = 0, down = 0;
  for (const evidence::BondMember& member : text.members) {
    if (!member.is_up) {
      ++down;
      continue;
    }
    if (member.aggregator) aggregators.insert(*member.aggregator);
    churned += member.actor_churn == "churned" || member.partner_churn == "churned";
  }
  if (aggregators.size() > 1)
    out.push_back(fmt::format("its members are in {} aggregators", aggregators.size()));
  if (churned > 0) out.push_back(fmt::format("{} of {} members are churned", churned, text.members.size()));
  if (down > 0) out.push_back(fmt::format("{} of {} members are down", down, text.members.size()));
  if (out.empty() && text.active_ports && *text.active_ports < static_cast<int>(text.members.size())) {
    out.push_back(fmt::format("{} of {} members are active", *text.active_ports, text.members.size()));
  }
  return out;
}

Outcome judge_told_bonds(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, text] : facts.dossier.all<evidence::BondText>()) {
    if (text->bond.mode != "802.3ad") continue;
    std::vector<Evidence> seen{shown("members", text->members.size(), "", *document)};
    if (text->active_ports) seen.push_back(shown("active ports", *text->active_ports, "", *document));
    if (text->bond.partner_mac) {
      seen.push_back(shown("partner MAC", *text->bond.partner_mac, "", *document, text->partner_line));
    }
    for (const evidence::BondMember& member : text->members) {
      const std::string state =
          fmt::format("{}, aggregator {}, partner {}", member.is_up ? "up" : "down",
                      member.aggregator.value_or("not shown"), member.partner_churn.value_or("not shown"));
      seen.push_back(shown(member.name, state, "", *document, member.line));
    }
    const std::vector<std::string> faults = lacp_faults(*text);
    if (faults.empty()) {
      append(good, std::move(seen));
      continue;
    }
    Finding finding;
    finding.subject = document->host ? *document->host + " " + text->bond.name : text->bond.name;
    finding.evidence = std::move(seen);
    finding.cause = fmt::format(
        "LACP is not up on all of the bond: {}. The switch does not aggregate, so {} of {} ports carries the "
        "traffic. That the bond shows as one RDMA device is by design.",
        named(faults), text->active_ports.value_or(1), text->members.size());
    finding.fix = advise(
        "Configure LACP on the switch ports of all members, in one group; check the links of those left out, "
        "then that the partner's MAC is not zero and all members are in one aggregator.",
        {fmt::format("cat /proc/net/bonding/{}", text->bond.name)});
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good), "no 802.3ad bond is among the inputs");
}

}  // namespace

std::span<const Rule> told_link_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LINK-1",
       .title = "The link damages no frames (pasted counters)",
       .condition = "Symbol, CRC and uncorrectable FEC errors do not rise, and are no share of all frames.",
       .why = "Loss on the wire looks like congestion to RoCE and is cured elsewhere.",
       .needs = "ethtool -S with the phy rows, or ethtool --show-fec with statistics; best of two moments.",
       .decided = "Any rise between two dumps is a finding. Of one dump: a share of the frames from 1 in "
                  "1000000 on, or a count from 1000 on where frames are not counted; less is info. Corrected "
                  "bits are never more than info; one lane with 80 % of them is named.",
       .fix = "Cable, module, port.",
       .source = "Linux mlx5 counters documentation; IEEE 802.3 (RS-FEC)",
       .gates = {},
       .judge = judge_told_link_errors},
      {.id = "LINK-2",
       .title = "The link stays up at full speed (pasted counters and settings)",
       .condition = "No link-down event, and no slower than both ends offer.",
       .why = "A flap stops the job, moves GIDs, and may drop run-time QoS; a slow port drags a collective.",
       .needs = "ethtool -S with link_down_events_phy of two moments; ethtool IF with the partner's modes.",
       .decided = "A rise between two dumps is a finding; a total since boot is info from 10 on. A port "
                  "without link is "
                  "not judged: it may not be meant to be used.",
       .fix = "Cable, module, autonegotiation.",
       .source = "NVIDIA/nccl#2157; Linux ethtool",
       .gates = {},
       .judge = judge_told_link_state},
      {.id = "LAG-1",
       .title = "LACP is up on every member of a bond (pasted /proc/net/bonding)",
       .condition = "802.3ad: a partner answers, all members are up, in one aggregator and not churned.",
       .why = "Without LACP at the switch one port carries all, while the bond looks up.",
       .needs = "/proc/net/bonding/NAME.",
       .decided =
           "Each sign is named: zero partner MAC, several aggregators, churn, members down or not active.",
       .fix = "LACP on the switch ports of all members, in one group.",
       .source = "Linux drivers/net/bonding/bond_procfs.c, bond_3ad.c; linux-rdma list, May 2024",
       .gates = {},
       .judge = judge_told_bonds},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
