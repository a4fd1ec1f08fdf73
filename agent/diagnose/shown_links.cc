// Links as mlxlink, ibstat, the kernel's log and FEC histograms show them.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/fec_histogram.h"
#include "agent/evidence/rdma_tools/iblinkinfo.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/mlxlink.h"

namespace rocetune::diagnose {
namespace {

using evidence::KernelEvent;
using evidence::MlxlinkReport;

// RS(544,514) mends up to 15 symbols of a codeword, RS(528,514) up to 7. IEEE 802.3, clauses 91 and 119.
constexpr int kLastGoodBin = 15;

std::string label(const evidence::Document& document) {
  const std::string host = document.host.value_or("");
  return host.empty() ? document.file : host;
}

// ---- LINK-1 ----

// The lane that holds nearly all raw errors.
std::optional<std::size_t> worst_lane(const std::vector<std::uint64_t>& errors, const Policy& policy) {
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : errors) sum += lane;
  if (errors.size() < 2 || sum == 0) return std::nullopt;
  const auto worst = std::max_element(errors.begin(), errors.end());
  if (static_cast<double>(*worst) < policy.uneven_raw_lane.value() * static_cast<double>(sum))
    return std::nullopt;
  return static_cast<std::size_t>(worst - errors.begin());
}

constexpr const char* kSwap =
    "Clean or swap cable and module, then try another port; look at both ends. Such loss is not congestion: "
    "no PFC or "
    "ECN change helps.";

std::optional<Finding> damaged(const evidence::Document& document, const MlxlinkReport& report,
                               const Policy& policy) {
  Finding finding;
  const auto add = [&](const char* name, const auto& value, int line) {
    if (value) finding.evidence.push_back(shown(name, *value, "", document, line));
  };
  const double limit = policy.worst_post_fec_ber;
  const bool by_ratio = report.effective_ber.value_or(0) > limit || report.symbol_ber.value_or(0) > limit;
  // Errors without a ratio beside them: how many of how much is not known.
  const bool by_count = (report.effective_errors.value_or(0) > 0 && !report.effective_ber) ||
                        (report.symbol_errors.value_or(0) > 0 && !report.symbol_ber && !report.effective_ber);
  if (!by_ratio && !by_count) return std::nullopt;
  add("effective physical errors", report.effective_errors, report.effective_line);
  add("effective physical BER", report.effective_ber, report.effective_line);
  add("symbol errors", report.symbol_errors, report.symbol_line);
  add("symbol BER", report.symbol_ber, report.symbol_line);
  finding.subject = label(document);
  finding.confidence = by_ratio ? Confidence::high : Confidence::medium;
  finding.cause = "Errors remain after FEC: the link damages frames.";
  if (const auto lane = worst_lane(report.raw_errors_of_lane, policy)) {
    finding.evidence.push_back(shown(fmt::format("raw errors of lane {}", *lane),
                                     report.raw_errors_of_lane[*lane], "", document, report.lanes_line));
    finding.cause += fmt::format(" Nearly all raw errors are on lane {}.", *lane);
  }
  finding.fix = advise(kSwap, {"mlxlink -d DEVICE -m -c"});
  return finding;
}

// Corrected bits are no fault; uneven lanes and a histogram that reaches far are worth a remark.
std::optional<Finding> uneven_lanes(const evidence::Document& document, const MlxlinkReport& report,
                                    const Policy& policy) {
  const auto lane = worst_lane(report.raw_errors_of_lane, policy);
  if (!lane) return std::nullopt;
  Finding finding;
  finding.severity = Severity::info;
  finding.subject = label(document);
  finding.evidence = {shown(fmt::format("raw errors of lane {}", *lane), report.raw_errors_of_lane[*lane], "",
                            document, report.lanes_line)};
  finding.cause = fmt::format(
      "Lane {} holds nearly all errors that FEC mends. Corrected errors are normal and cost nothing; so "
      "uneven they may "
      "be the beginning of a bad lane.",
      *lane);
  finding.fix =
      advise("Watch it: have a second look in a day, and swap the cable if errors remain after FEC.");
  return finding;
}

std::optional<Finding> far_bins(const evidence::Document& document, const std::vector<evidence::FecBin>& bins,
                                const Policy& policy) {
  const evidence::FecBin* worst = nullptr;
  for (const evidence::FecBin& bin : bins) {
    if (bin.codewords > 0 && bin.bin >= policy.far_fec_bin) worst = &bin;
  }
  if (worst == nullptr) return std::nullopt;
  Finding finding;
  const bool lost = worst->bin > kLastGoodBin;
  finding.severity = lost ? Severity::warning : Severity::info;
  finding.confidence = Confidence::medium;
  finding.subject = label(document);
  finding.evidence = {
      shown(fmt::format("FEC bin {}", worst->bin), worst->codewords, "codewords", document, worst->line)};
  finding.cause =
      lost ? fmt::format("{} codewords had more bad symbols than FEC mends.", worst->codewords)
           : fmt::format(
                 "Codewords with {} bad symbols were mended: little is left of the {} that RS-FEC can.",
                 worst->bin, kLastGoodBin);
  finding.fix =
      advise(lost ? kSwap : "Watch it: clean the connectors, and swap the cable if errors remain after FEC.");
  return finding;
}

Outcome judge_shown_errors(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [document, report] : facts.dossier.all<MlxlinkReport>()) {
    if (findings.size() >= kMostShownFindings) break;
    if (auto finding = damaged(*document, *report, facts.policy)) {
      findings.push_back(std::move(*finding));
      continue;
    }
    if (auto finding = uneven_lanes(*document, *report, facts.policy))
      findings.push_back(std::move(*finding));
    if (auto finding = far_bins(*document, report->bins, facts.policy))
      findings.push_back(std::move(*finding));
    if (report->effective_ber)
      seen.push_back(
          shown("effective physical BER", *report->effective_ber, "", *document, report->effective_line));
    if (report->effective_errors)
      seen.push_back(shown("effective physical errors", *report->effective_errors, "", *document,
                           report->effective_line));
  }
  for (const auto& [document, histogram] : facts.dossier.all<evidence::FecHistogram>()) {
    if (findings.size() >= kMostShownFindings) break;
    if (auto finding = far_bins(*document, histogram->bins, facts.policy))
      findings.push_back(std::move(*finding));
    seen.push_back(shown("FEC bins, the last with codewords", histogram->bins.back().bin, "", *document));
  }
  return Outcome::of(std::move(findings), std::move(seen),
                     "neither mlxlink's error counters nor a FEC histogram is among the inputs");
}

// ---- LINK-2 ----

// The port of one name on several hosts: one that is slower than most.
std::vector<Finding> slower_than_others(const std::vector<ShownPort>& ports, bool by_name) {
  std::map<std::string, std::vector<ShownPort>> groups;
  for (const ShownPort& port : ports) {
    if (!port.view->is_active() || !port.view->rdma.rate) continue;
    // By name over hosts; by kind of adapter within one, where three or more show what is usual.
    groups[by_name ? port.view->name() : port.host() + "\n" + port.view->part + "\n" + port.view->psid]
        .push_back(port);
  }
  std::vector<Finding> findings;
  for (const auto& [name, group] : groups) {
    std::set<std::string> names;
    for (const ShownPort& port : group) names.insert(by_name ? port.host() : port.view->name());
    if (names.size() < (by_name ? 2U : 3U) || (by_name && names.contains(""))) continue;
    if (!by_name && group[0].view->part.empty()) continue;
    const auto fastest = std::max_element(
        group.begin(), group.end(),
        [](const ShownPort& a, const ShownPort& b) { return *a.view->rdma.rate < *b.view->rdma.rate; });
    const BitRate usual = *fastest->view->rdma.rate;
    std::vector<const ShownPort*> slow;
    for (const ShownPort& port : group) {
      if (*port.view->rdma.rate < usual) slow.push_back(&port);
    }
    // Within a host only a single odd one: pairs of slower ports are meant so, for storage as a rule.
    if (slow.empty() || (!by_name && slow.size() > 1) || slow.size() * 2 > group.size()) continue;
    for (const ShownPort* port : slow) {
      if (findings.size() >= kMostShownFindings) return findings;
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = port->subject();
      finding.evidence = {shown(port->subject() + " rate", to_text(*port->view->rdma.rate), "",
                                *port->document, port->view->rate_line),
                          shown(fastest->subject() + " rate", to_text(usual), "", *fastest->document,
                                fastest->view->rate_line)};
      finding.cause =
          fmt::format("{} runs at {}, the others like it at {}: it holds back every collective over it.",
                      port->subject(), to_text(*port->view->rdma.rate), to_text(usual));
      finding.fix = advise("Look at cable, module, speed and autonegotiation, at both ends of that link.");
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

void add_kernel_links(const evidence::Document& document, const evidence::KernelLog& log,
                      std::vector<Finding>& findings, std::vector<Evidence>& seen) {
  for (const auto& [device, flaps] : log.flaps) {
    if (flaps.flaps == 0) {
      seen.push_back(shown("link of " + device + ", times it went down again", 0, "", document));
      continue;
    }
    if (findings.size() >= kMostShownFindings) return;
    Finding finding;
    finding.subject = device;
    finding.evidence = {shown("kernel log", flaps.first_text, "", document, flaps.first_line),
                        shown("times it went down after it was up", flaps.flaps, "", document)};
    finding.cause = fmt::format(
        "The link of {} went down {} after it was up{}. Every flap stops the job, moves GIDs to other "
        "indices, and may "
        "drop QoS settings that were made at run time.",
        device, flaps.flaps == 1 ? "once" : fmt::format("{} times", flaps.flaps),
        flaps.is_up ? "" : ", and did not come back within this log");
    finding.fix = advise(
        "Look at cable, module, power and autonegotiation at both ends; afterwards compare the GID table and "
        "the class "
        "map with what they were.",
        {"mlxlink -d DEVICE -m -c", "show_gids"});
    findings.push_back(std::move(finding));
  }
  for (const KernelEvent kind : {KernelEvent::module_trouble, KernelEvent::firmware_trouble}) {
    const evidence::KernelEvents& events = log.of(kind);
    if (events.count == 0 || findings.size() >= kMostShownFindings) continue;
    const bool firmware = kind == KernelEvent::firmware_trouble;
    Finding finding;
    finding.severity = firmware ? Severity::critical : Severity::warning;
    finding.subject = events.lines[0].device;
    finding.evidence = {shown("kernel log", events.lines[0].text, "", document, events.lines[0].line),
                        shown("lines of that kind", events.count, "", document)};
    finding.cause =
        firmware
            ? "The NIC's firmware stopped answering or reports a fault: the port is gone until it is reset."
            : "The driver reports trouble with the module in the port.";
    finding.fix = advise(
        firmware
            ? "Reset the NIC (driver reload or cold power cycle), update its firmware, and swap it if it "
              "comes again; the first line of this kind is the one to show to the vendor."
            : "Reseat or swap the module, and look at its temperature and whether the port supports it.",
        {"mlxlink -d DEVICE -m"});
    findings.push_back(std::move(finding));
  }
}

void add_mlxlink(const evidence::Document& document, const MlxlinkReport& report,
                 std::vector<Finding>& findings, std::vector<Evidence>& seen) {
  if (!report.state.empty()) seen.push_back(shown("State", report.state, "", document, report.state_line));
  if (report.link_downs.value_or(0) > 0 && findings.size() < kMostShownFindings) {
    Finding finding;
    finding.severity = Severity::info;
    finding.subject = label(document);
    finding.evidence = {shown("Link Down Counter", *report.link_downs, "", document, report.downs_line)};
    if (report.minutes_since_clear)
      finding.evidence.push_back(
          shown("time since last clear", *report.minutes_since_clear, "min", document));
    finding.cause = "The link went down before; when is not told.";
    finding.fix = advise("Clear the counter and look again after a while: only a rise is a fault.",
                         {"mlxlink -d DEVICE --pc"});
    findings.push_back(std::move(finding));
  }
  if (!report.recommendation.empty() && !report.is_active() && findings.size() < kMostShownFindings) {
    Finding finding;
    finding.severity = Severity::info;
    finding.subject = label(document);
    finding.evidence = {
        shown("State", report.state, "", document, report.state_line),
        shown("Recommendation", report.recommendation, "", document, report.recommendation_line)};
    finding.cause = fmt::format("The port is not active; mlxlink says: {}.", report.recommendation);
    finding.fix = advise("If the port is meant to be used: cable, module, and the other end's state.");
    findings.push_back(std::move(finding));
  }
}

// "( Could be 14.0625 Gbps)": an InfiniBand link below what both ends can.
void add_fabric(const evidence::Document& document, const evidence::FabricLinks& links,
                std::vector<Finding>& findings) {
  for (const evidence::FabricLink& link : links.links) {
    if (link.state != "Active" || link.could_be.empty() || findings.size() >= kMostShownFindings) continue;
    Finding finding;
    finding.subject = link.far_end.empty() ? link.node : link.far_end;
    finding.evidence = {
        shown("link", fmt::format("{}X {} Gbps", link.width_lanes, link.lane_gbps), "", document, link.line),
        shown("iblinkinfo", link.could_be, "", document, link.line)};
    finding.cause = "An InfiniBand link runs below what both of its ends can do.";
    finding.fix = advise("Cable, module, and the port's enabled speed and width.");
    findings.push_back(std::move(finding));
  }
}

Outcome judge_shown_state(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  const std::vector<ShownPort> ports = shown_ports(facts);
  for (const bool by_name : {true, false}) {
    for (Finding& finding : slower_than_others(ports, by_name)) findings.push_back(std::move(finding));
  }
  for (const ShownPort& port : ports) {
    if (port.view->is_active() && port.view->rdma.rate && seen.size() < 16)
      seen.push_back(shown(port.subject() + " rate", to_text(*port.view->rdma.rate), "", *port.document,
                           port.view->rate_line));
  }
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>())
    add_kernel_links(*document, *log, findings, seen);
  for (const auto& [document, report] : facts.dossier.all<MlxlinkReport>())
    add_mlxlink(*document, *report, findings, seen);
  for (const auto& [document, links] : facts.dossier.all<evidence::FabricLinks>())
    add_fabric(*document, *links, findings);
  return Outcome::of(std::move(findings), std::move(seen),
                     "no state or rate of a link, and no kernel log with links, is among the inputs");
}

}  // namespace

std::span<const Rule> shown_link_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LINK-1",
       .title = "No errors remain after FEC, as texts show it",
       .condition =
           "Effective and symbol BER are at most 1e-12; no codeword had more bad symbols than FEC mends.",
       .why = "Loss on the wire looks like congestion to RoCE and is cured elsewhere.",
       .needs = "mlxlink -c, or a FEC histogram.",
       .decided = "Warning for a ratio above that, or for errors without a ratio beside them. Corrected "
                  "errors are info at "
                  "most: lanes that are uneven, a histogram that nears its end.",
       .fix = "Cable, module, port.",
       .source = "NVIDIA mlxlink documentation; IEEE 802.3, clauses 91 and 119",
       .gates = {},
       .judge = judge_shown_errors},
      {.id = "LINK-2",
       .title = "Links stay up at the speed of their like, as texts show it",
       .condition = "Active ports have the rate of the same port on other hosts and of their kind; the "
                    "kernel's log shows no link "
                    "that went down after it was up, no trouble with modules or firmware.",
       .why = "A flap stops the job, moves GIDs, and may drop run-time QoS; a slow port drags a collective.",
       .needs = "ibstat, ibstatus, ibv_devinfo of hosts; the kernel's log; mlxlink; iblinkinfo.",
       .decided = "Warning. A port that is down shows a placeholder rate and does not count; the first up of "
                  "a log is no flap; "
                  "a down counter alone is info.",
       .fix = "Cable, module, autonegotiation, firmware.",
       .source = "NVIDIA/nccl#2157; Linux mlx5, bnxt drivers",
       .gates = {},
       .judge = judge_shown_state},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
