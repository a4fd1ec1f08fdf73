// Whether switches carry the class that the hosts use: trust, DSCP map, PFC, CNPs, announcements.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/switch_facts.h"

namespace rocetune::diagnose {
namespace {

using evidence::SwitchSettings;
using evidence::SwitchSystem;
using evidence::SwitchTrust;

// PFC that a text only states as its state of operation is judged by SW-2.
bool is_configured(const SwitchText& text) { return text.evidence->pfc_states.empty(); }

// ---- MAP-3 ----

Finding pfc_mismatch(const SwitchText& text, const SwitchPorts& ports, const HostLossless& host) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.subject = subject_of(text, ports);
  finding.evidence = {switch_setting(text, ports, "pfc", "PFC of the switch", to_text(*ports.settings.pfc)),
                      setting("PFC of " + host.who, to_text(host.pfc), "", source::kPfc)};
  finding.cause = fmt::format(
      "The switch has PFC for {} and {} for {}: neither stops the other, so the class is lossy on this link.",
      to_text(*ports.settings.pfc), host.who, to_text(host.pfc));
  finding.fix = advise(
      "Choose one priority for RoCE on all hosts and switches; `rocetune plan` sets it on a host, `rocetune "
      "switch-config` prints the lines for a switch.");
  return finding;
}

Outcome judge_switch_pfc(const DossierFacts& facts) {
  const auto hosts = host_lossless(facts);
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  std::optional<std::pair<std::string, PrioritySet>> first;  // port with PFC, for comparison among switches
  for (const SwitchText& text : switch_texts(facts)) {
    // It is not known which port a host hangs on: one that fits is enough.
    bool fits = false;
    std::vector<Finding> misfits;
    for (const SwitchPorts& ports : alike_ports(text.model(), SwitchAspect::classes)) {
      const auto& pfc = ports.settings.pfc;
      if (!pfc) continue;
      if (pfc->size() > 2) {
        Finding finding;
        finding.subject = subject_of(text, ports);
        finding.evidence = {switch_setting(text, ports, "pfc", "PFC", to_text(*pfc))};
        finding.cause = fmt::format(
            "PFC is on for {} priorities: each takes headroom from the shared buffer, and spreads pauses.",
            pfc->size());
        finding.fix = advise("Keep PFC on the one priority that carries RoCE (two at most).");
        findings.push_back(std::move(finding));
      }
      if (!pfc->is_empty() && first && first->second != *pfc) {
        Finding finding;
        finding.subject = subject_of(text, ports);
        finding.evidence = {switch_setting(text, ports, "pfc", "PFC", to_text(*pfc)),
                            setting("PFC of " + first->first, to_text(first->second), "", "the same inputs")};
        finding.cause =
            "Ports of the switches have PFC for different priorities: RoCE is lossy at one of them.";
        finding.fix = advise("Set the same priority on every port that RoCE crosses.");
        findings.push_back(std::move(finding));
      } else if (!pfc->is_empty() && !first) {
        first.emplace(subject_of(text, ports), *pfc);
      }
      for (const HostLossless& host : hosts) {
        if ((pfc->mask() & host.pfc.mask()) != 0) {
          fits = true;
          good.push_back(switch_setting(text, ports, "pfc", "PFC of the switch", to_text(*pfc)));
        } else if (is_configured(text) || !pfc->is_empty()) {
          misfits.push_back(pfc_mismatch(text, ports, host));
        }
      }
    }
    if (!fits && !misfits.empty()) findings.push_back(std::move(misfits.front()));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "PFC of a switch and of a host's port are not both among the inputs");
}

// ---- MAP-5 ----

void judge_mark(const SwitchText& text, const SwitchPorts& ports, const MarkedTraffic& mark,
                std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const SwitchSettings& s = ports.settings;
  if (s.trust == SwitchTrust::pcp || s.trust == SwitchTrust::none) return;  // MAP-1
  const auto priority = switch_priority(text.model().system, s, mark.dscp);
  if (!priority) return;
  const std::string what = fmt::format("dscp {}", mark.dscp.value());
  const bool listed = priority_of(s, mark.dscp).has_value();
  std::vector<Evidence> evidence{
      mark.evidence,
      switch_setting(text, ports, what, fmt::format("DSCP {} on the switch", mark.dscp.value()),
                     fmt::format("priority {}{}", priority->value(), listed ? "" : " (no entry: default)"))};
  if (s.pfc) evidence.push_back(switch_setting(text, ports, "pfc", "PFC of the switch", to_text(*s.pfc)));
  const bool is_lossy = s.pfc && !s.pfc->is_empty() && !s.pfc->contains(*priority);
  const bool differs = mark.priority && *mark.priority != *priority;
  if (!is_lossy && !differs) {
    if (s.pfc && s.pfc->contains(*priority)) append(good, std::move(evidence));
    return;
  }
  Finding finding;
  finding.severity = is_lossy ? Severity::critical : Severity::warning;
  finding.subject = subject_of(text, ports);
  finding.evidence = std::move(evidence);
  finding.cause =
      is_lossy
          ? fmt::format(
                "RoCE of {} is marked DSCP {}, which this switch sends to priority {}: that one has no "
                "PFC, the lossless ones are {}.",
                mark.who, mark.dscp.value(), priority->value(), to_text(*s.pfc))
          : fmt::format(
                "RoCE of {} is in priority {} there and in priority {} on the switch: pause frames of one "
                "do not stop the other's queue.",
                mark.who, mark.priority->value(), priority->value());
  finding.fix =
      advise(fmt::format("Map DSCP {} to the lossless priority on the switch (`rocetune switch-config` "
                         "prints the lines), or mark RoCE "
                         "with a DSCP that leads there.",
                         mark.dscp.value()));
  findings.push_back(std::move(finding));
}

// A lossless priority that nothing leads to, where the map is all there is.
void judge_reach(const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings) {
  const SwitchSettings& s = ports.settings;
  const SwitchSystem system = text.model().system;
  if (system != SwitchSystem::sonic && system != SwitchSystem::nxos && system != SwitchSystem::junos) return;
  if (!s.pfc || s.pfc->is_empty() || s.priority_of_dscp.empty()) return;
  const bool reached = std::ranges::any_of(s.priority_of_dscp,
                                           [&](const auto& entry) { return s.pfc->contains(entry.second); });
  if (reached) return;
  Finding finding;
  finding.subject = subject_of(text, ports);
  finding.evidence = {switch_setting(text, ports, "pfc", "PFC", to_text(*s.pfc)),
                      switch_setting(text, ports, "", "DSCPs that lead there", "none")};
  finding.cause = fmt::format(
      "PFC is on for {}, but no DSCP of the switch's map leads there: the lossless class stays "
      "empty.",
      to_text(*s.pfc));
  finding.fix = advise("Map the RoCE DSCP to the lossless priority, or move PFC to the priority it has.");
  findings.push_back(std::move(finding));
}

Outcome judge_switch_map(const DossierFacts& facts) {
  const auto marks = marked_traffic(facts);
  return judge_switches(facts, SwitchAspect::classes,
                        marks.empty() ? "no host, environment or capture says which DSCP RoCE has"
                                      : "no switch says to which priority it maps DSCPs",
                        [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
                            std::vector<Evidence>& good) {
                          for (const MarkedTraffic& mark : marks)
                            judge_mark(text, ports, mark, findings, good);
                          judge_reach(text, ports, findings);
                        });
}

// ---- MAP-1 ----

Outcome judge_switch_trust(const DossierFacts& facts) {
  std::optional<host::Trust> host_trust;
  std::string who;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (!port.port.dcb.trust || host_trust) continue;
      host_trust = *port.port.dcb.trust;
      who = port.port.name;
    }
  }
  const auto marks = marked_traffic(facts);
  return judge_switches(
      facts, SwitchAspect::classes, "no switch says what it classifies by",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        const auto trust = ports.settings.trust;
        if (!trust) return;
        Evidence evidence = switch_setting(text, ports, "trust", "trust of the switch", enum_name(*trust));
        const bool by_dscp = *trust == SwitchTrust::dscp || *trust == SwitchTrust::both;
        if (by_dscp && host_trust != std::optional(host::Trust::pcp)) {
          good.push_back(std::move(evidence));
          return;
        }
        // Both by PCP: a plan for tagged frames.
        if (!by_dscp && host_trust == std::optional(host::Trust::pcp)) {
          good.push_back(std::move(evidence));
          return;
        }
        const bool dscp_in_use = host_trust == std::optional(host::Trust::dscp) || !marks.empty();
        if (!by_dscp && !dscp_in_use) return;
        Finding finding;
        finding.severity = by_dscp ? Severity::info : Severity::warning;
        finding.subject = subject_of(text, ports);
        finding.evidence = {std::move(evidence)};
        if (host_trust)
          finding.evidence.push_back(setting("trust of " + who, enum_name(*host_trust), "", source::kTrust));
        if (!marks.empty()) finding.evidence.push_back(marks.front().evidence);
        finding.cause =
            by_dscp
                ? "The switch classifies by DSCP and the host by PCP: they put one packet into two classes."
                : "RoCE is marked by DSCP, and these ports of the switch do not look at it: untagged "
                  "packets go to the default class.";
        finding.fix = advise("Trust DSCP on both ends.");
        findings.push_back(std::move(finding));
      });
}

// ---- MAP-7 ----

Outcome judge_switch_cnps(const DossierFacts& facts) {
  return judge_switches(
      facts, SwitchAspect::classes, "no switch says where CNPs go",
      [&](const SwitchText& text, const SwitchPorts& ports, std::vector<Finding>& findings,
          std::vector<Evidence>& good) {
        const SwitchSettings& s = ports.settings;
        const Dscp cnp = facts.declared.cnp_dscp.value_or(facts.policy.plan.cnp_dscp);
        const auto priority = priority_of(s, cnp);
        if (!priority || !s.pfc) return;
        Evidence evidence = switch_setting(text, ports, fmt::format("dscp {}", cnp.value()),
                                           fmt::format("CNPs (DSCP {}) on the switch", cnp.value()),
                                           fmt::format("priority {}", priority->value()));
        if (!s.pfc->contains(*priority)) {
          good.push_back(std::move(evidence));
          return;
        }
        Finding finding;
        finding.subject = subject_of(text, ports);
        finding.evidence = {std::move(evidence), switch_setting(text, ports, "pfc", "PFC", to_text(*s.pfc))};
        finding.cause =
            "CNPs share a priority with PFC: a paused CNP cannot slow its sender, when it is needed most.";
        finding.fix =
            advise(fmt::format("Map DSCP {} to a priority of its own without PFC, strict.", cnp.value()));
        findings.push_back(std::move(finding));
      });
}

// ---- SW-4 ----

Outcome judge_announcements(const DossierFacts& facts) {
  const auto hosts = host_lossless(facts);
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const SwitchText& text : switch_texts(facts)) {
    const auto& announced = text.model().announced_priority;
    if (!announced) continue;
    const Evidence evidence = shown("priority announced for UDP 4791", announced->value(), "", *text.document,
                                    text.model().line_of("application"));
    const auto& pfc = text.model().common.pfc;
    const bool lossy = pfc && !pfc->is_empty() && !pfc->contains(*announced);
    std::optional<HostLossless> other;
    for (const HostLossless& host : hosts) {
      if (!host.pfc.contains(*announced)) other = host;
    }
    if (!lossy && !other) {
      good.push_back(evidence);
      continue;
    }
    Finding finding;
    finding.subject = text.name();
    finding.evidence = {evidence};
    if (lossy)
      finding.evidence.push_back(
          shown("PFC of the switch", to_text(*pfc), "", *text.document, text.model().line_of("pfc")));
    if (other)
      finding.evidence.push_back(setting("PFC of " + other->who, to_text(other->pfc), "", source::kPfc));
    finding.cause = fmt::format(
        "The switch announces priority {} for RoCE (UDP 4791), which is not lossless {}: a willing host will "
        "follow it "
        "into the wrong class.",
        announced->value(), lossy ? "on itself" : "on the host");
    finding.fix =
        advise("Announce the priority that has PFC at both ends, or take DCBX off the host (PFC-2).");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no text of a switch says what it announces for UDP 4791");
}

}  // namespace

std::span<const Rule> switch_class_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-1",
       .title = "Switch and hosts classify by the same field",
       .condition = "Where RoCE is marked by DSCP, every port of the switch that it enters trusts DSCP.",
       .why = "Untagged packets carry no PCP: a port that trusts it puts RoCE into the default class.",
       .needs = "Trust of a switch's ports; the trust of a host, or a DSCP that RoCE is marked with.",
       .decided = "Warning where DSCP is in use and the switch does not trust it; info where only the host "
                  "trusts PCP.",
       .fix = "Trust DSCP on both ends.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {},
       .judge = judge_switch_trust},
      {.id = "MAP-3",
       .title = "Switch and hosts have PFC on the same priority",
       .condition =
           "Some port of each switch has PFC on a priority of every host; ports of switches agree; two "
           "priorities at most.",
       .why = "A pause frame names its priority: an end that has PFC on another one does not stop.",
       .needs = "PFC per port of a switch, and of a host.",
       .decided = "Critical where no port of a switch shares a priority with a host; warning where ports "
                  "differ among "
                  "each other or have more than two.",
       .fix = "One priority everywhere.",
       .source = "IEEE 802.1Qbb; Guo et al., SIGCOMM 2016",
       .gates = {},
       .judge = judge_switch_pfc},
      {.id = "MAP-5",
       .title = "The RoCE DSCP leads to a lossless priority on the switch",
       .condition = "Every DSCP that hosts, environments or captures show for RoCE is mapped to a priority "
                    "with PFC, the "
                    "same as on the host.",
       .why = "One link of the chain that leads elsewhere makes the class lossy: SONiC's stock map sends "
              "DSCP 26 to a "
              "lossy class.",
       .needs = "A switch's DSCP map and PFC; a DSCP of RoCE.",
       .decided = "Critical where the priority has no PFC while others have; warning where host and switch "
                  "use different "
                  "priorities, or where no DSCP of the map leads to any priority with PFC.",
       .fix = "The switch's map, or the host's marking.",
       .source = "sonic-buildimage qos_config.j2; RFC 2474",
       .gates = {},
       .judge = judge_switch_map},
      {.id = "MAP-7",
       .title = "The switch keeps CNPs out of the lossless priority",
       .condition = "The CNP DSCP is mapped to a priority without PFC.",
       .why = "A paused CNP cannot slow the sender.",
       .needs = "A switch's DSCP map and PFC.",
       .decided = "Warning if its priority has PFC.",
       .fix = "A priority of its own.",
       .source = "Cumulus Linux documentation, RoCE",
       .gates = {},
       .judge = judge_switch_cnps},
      {.id = "SW-4",
       .title = "What the switch announces for RoCE is lossless at both ends",
       .condition = "The DCBX application entry for UDP 4791 names a priority that has PFC on the switch and "
                    "on the hosts.",
       .why = "Willing hosts follow the announcement.",
       .needs = "A switch's application entry; PFC of the switch or of a host.",
       .decided = "Warning if the priority has no PFC at an end that is known.",
       .fix = "The announcement, or its owner.",
       .source = "IEEE 802.1Qaz",
       .gates = {},
       .judge = judge_announcements},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
