// The class map, as counters and tools of one or several hosts in texts show it.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/finding_groups.h"
#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/diagnose/told.h"

namespace rocetune::diagnose {
namespace {

// ---- MAP-6 ----

// Counters of RDMA that moved, a verbs test, channels of a library over RDMA.
bool shows_rdma(const evidence::Document& document) {
  if (!document.counters.empty()) {
    return std::any_of(document.counters.begin(), document.counters.end(),
                       [](const evidence::Counter& counter) { return counter.value > 0; });
  }
  if (document.format != "nccl-log") return document.format == "perftest" || document.format == "ucx-log";
  return std::any_of(document.facts.begin(), document.facts.end(), [](const evidence::Fact& fact) {
    return (fact.name == "nccl.gdr_channels" || fact.name == "nccl.nongdr_channels") && fact.value > 0;
  });
}

// What shows that RDMA is used at all on these hosts.
std::optional<Evidence> rdma_in_use(const DossierFacts& facts) {
  for (const CountedPort& port : facts.counted) {
    for (const std::string_view name :
         {"rdma_tx_packets", "rdma_rx_packets", "rx_write_requests", "rx_read_requests"}) {
      if (port.known(name) > 0) return port.evidence(name);
    }
  }
  for (const char* const format : {"hw-counters", "rdma-statistic", "perftest", "ucx-log", "nccl-log"}) {
    for (const evidence::Document* document : facts.dossier.of_format(format)) {
      if (shows_rdma(*document)) {
        return shown("RDMA in use, as said by", format, "", *document, document->first_line);
      }
    }
  }
  return std::nullopt;
}

// The class of the port that the counters are of: its own, else the one that all hosts share.
std::optional<RoceClass> class_for(const DossierFacts& facts, const CountedPort& counted) {
  std::optional<RoceClass> common;
  bool differs = false;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (!port.roce_class) continue;
      const bool is_same =
          !counted.device.empty() && (port.port.name == counted.device ||
                                      (port.rdma() != nullptr && port.rdma()->device == counted.device));
      if (is_same && (counted.host.empty() || host.host.name.starts_with(counted.host)))
        return port.roce_class;
      differs |= common && common->priority != port.roce_class->priority;
      common = port.roce_class;
    }
  }
  return differs ? std::nullopt : common;
}

struct PrioritySpread {
  std::uint64_t sum = 0;
  std::size_t counted = 0;
  std::optional<Priority> busiest;
  std::uint64_t most = 0;
};

PrioritySpread spread_of(const CountedPort& port, std::string_view name) {
  PrioritySpread out;
  for (int p = 0; p < Priority::kCount; ++p) {
    const auto packets = port.count(name, Priority(p));
    if (!packets) continue;
    ++out.counted;
    out.sum += *packets;
    if (*packets > out.most) {
      out.most = *packets;
      out.busiest = Priority(p);
    }
  }
  return out;
}

Fix send_in_class(const std::optional<RoceClass>& c, const Policy& policy) {
  const Dscp dscp = c && c->dscp ? *c->dscp : policy.plan.data_dscp;
  const Priority priority = c ? c->priority : policy.plan.data_priority;
  const int tos = tos_of(dscp).wire();
  return advise(fmt::format(
      "Give RoCE a priority of its own: applications send ToS {} (DSCP {} and ECT(0)) by NCCL_IB_TC={}, "
      "UCX_IB_TRAFFIC_CLASS={}, perftest --tclass={}, on both ends; trust DSCP and map DSCP {} to priority "
      "{} on NIC and switch, with PFC on that priority alone and ECN on its queue.",
      tos, dscp.value(), tos, tos, tos, dscp.value(), priority.value()));
}

void judge_priorities(const DossierFacts& facts, const CountedPort& port, const Evidence& rdma,
                      std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const auto c = class_for(facts, port);
  Finding finding;
  std::string where;
  for (const std::string_view name : {"tx_packets", "rx_packets"}) {
    const PrioritySpread spread = spread_of(port, name);
    // Totals since boot hold management too: only much traffic and none in the class says something.
    const std::uint64_t enough = facts.policy.idle_below_packets * (port.is_total ? 1000 : 1);
    if (!spread.busiest || spread.sum < enough) continue;
    if (c) {
      const auto in_class = port.count(name, c->priority);
      if (!in_class) continue;
      const std::uint64_t limit = port.is_total ? 0 : spread.sum / 100;
      if (*in_class > limit) {
        append(good, {port.evidence(name, c->priority), port.evidence(name, *spread.busiest)});
        continue;
      }
      finding.evidence.push_back(port.evidence(name, c->priority));
    } else if (spread.counted < 4 || spread.busiest != Priority(0) || spread.most != spread.sum) {
      continue;  // several priorities are in use, and which is RoCE's is not known
    }
    finding.evidence.push_back(port.evidence(name, *spread.busiest));
    where +=
        (where.empty() ? "" : ", ") +
        fmt::format("{} in priority {}", name == "tx_packets" ? "sent" : "received", spread.busiest->value());
  }
  if (where.empty()) return;
  finding.subject = port.subject();
  finding.evidence.push_back(rdma);
  finding.severity = c && !port.is_total ? Severity::critical : Severity::warning;
  finding.confidence = c ? c->confidence : Confidence::medium;
  finding.cause =
      c ? fmt::format(
              "The RoCE class in priority {} carries nothing {}: packets are {}, where nothing is lossless.",
              c->priority.value(), port.span(), where)
        : fmt::format(
              "All packets are {} ({}): RoCE has no class of its own, so it shares a lossy queue with "
              "everything else.",
              where, port.span());
  finding.fix = send_in_class(c, facts.policy);
  findings.push_back(std::move(finding));
}

Outcome judge_told_class(const DossierFacts& facts) {
  if (is_infiniband_fabric(facts)) return Outcome::not_checked("the links shown are InfiniBand (NET-3)");
  const auto rdma = rdma_in_use(facts);
  bool counts_priorities = false;
  for (const CountedPort& port : facts.counted) {
    counts_priorities |= port.sum("tx_packets").has_value() || port.sum("rx_packets").has_value();
  }
  if (!counts_priorities) {
    return Outcome::not_checked(
        "per-priority packet counters (ethtool -S, rows prio) of both ends under load are not among the "
        "inputs: that RoCE travels in its class is not proven");
  }
  if (!rdma)
    return Outcome::not_checked("nothing among the inputs shows that RDMA traffic is among these packets");
  return judge_counted(
      facts, "too few packets, or several priorities in use and no RoCE class known to compare with",
      [&](const CountedPort& port, std::vector<Finding>& findings, std::vector<Evidence>& good) {
        judge_priorities(facts, port, *rdma, findings, good);
      });
}

// ---- one setting on all hosts ----

// What each host says of one thing; hosts by name, the latest state of each.
struct SaidByHosts {
  std::map<std::string, std::pair<std::string, Evidence>> hosts;  // value, where it stands

  bool differs() const {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const auto& one) { return one.second.first != hosts.begin()->second.first; });
  }
  std::vector<Evidence> evidence() const {
    std::vector<Evidence> out;
    for (const auto& [host, said] : hosts) out.push_back(said.second);
    return out;
  }
  // "hostB has {4}, hostA {3}": the few first.
  std::string text() const {
    std::map<std::string, std::vector<std::string>> by_value;
    for (const auto& [host, said] : hosts) by_value[said.first].push_back(host);
    std::vector<std::pair<std::string, std::vector<std::string>>> groups(by_value.begin(), by_value.end());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::string out;
    for (const auto& [value, names] : groups) {
      out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", named(names),
                         names.size() == 1 ? "has" : "have", value);
    }
    return out;
  }
};

bool is_later(const evidence::Document& a, const evidence::Document& b) {
  const auto rank = [](const evidence::Document& d) {
    return !d.phase                                         ? 1
           : d.phase->kind == evidence::Phase::Kind::before ? 0
           : d.phase->kind == evidence::Phase::Kind::at     ? 1
                                                            : 2;
  };
  return rank(a) >= rank(b);
}

// `value_of` gives what a document says (nothing: it does not).
template <class ValueOf>
SaidByHosts said_by_hosts(const DossierFacts& facts, const std::string& name, const std::string& unit,
                          ValueOf value_of) {
  SaidByHosts out;
  std::map<std::string, const evidence::Document*> latest;
  for (const evidence::Document& document : facts.dossier.documents()) {
    if (!document.host || document.host->empty()) continue;
    const std::optional<std::string> value = value_of(document);
    if (!value) continue;
    const evidence::Document*& known = latest[*document.host];
    if (known != nullptr && !is_later(document, *known)) continue;
    known = &document;
    out.hosts[*document.host] = {
        *value, shown(*document.host + " " + name, *value, unit, document, document.first_line)};
  }
  return out;
}

std::optional<double> fact_in(const evidence::Document& document, std::string_view name) {
  for (const evidence::Fact& fact : document.facts) {
    if (fact.name == name) return fact.value;
  }
  return std::nullopt;
}

Finding hosts_differ(const SaidByHosts& said, std::string what, std::string harm, std::string cure) {
  Finding finding;
  finding.subject = "hosts";
  finding.evidence = said.evidence();
  finding.cause = fmt::format("{} differs between hosts: {}. {}", what, said.text(), harm);
  finding.fix = advise(std::move(cure));
  return finding;
}

// Where several hosts say the same it passes, if at least two say anything.
void judge_said(const SaidByHosts& said, const char* what, const char* harm, const char* cure,
                std::vector<Finding>& findings, std::vector<Evidence>& good) {
  if (said.hosts.size() < 2) return;
  if (said.differs()) {
    findings.push_back(hosts_differ(said, what, harm, cure));
  } else {
    append(good, said.evidence());
  }
}

// The interface that the class map of a host was read from; "IF" if none is named.
std::string interface_of(const DossierFacts& facts, const std::string& host) {
  for (const evidence::Document& document : facts.dossier.documents()) {
    if (document.host != host || !document.host_part) continue;
    for (const host::Port& port : document.host_part->ports) {
      if (!port.name.empty() && (port.dcb.pfc || port.dcb.app)) return port.name;
    }
  }
  return "IF";
}

// The priority on which some host's DSCP map and PFC agree; nothing if none does, or two do not agree.
std::optional<int> agreed_priority(const SaidByHosts& pfc, const SaidByHosts& map) {
  std::optional<int> out;
  for (const auto& [host, said] : map.hosts) {
    const auto of_host = pfc.hosts.find(host);
    if (of_host == pfc.hosts.end() || of_host->second.first != "{" + said.first + "}") continue;
    const int priority = said.first.front() - '0';
    if (out && *out != priority) return std::nullopt;
    out = priority;
  }
  return out;
}

// Lines that bring the other hosts to what one host has whole.
void add_commands(const DossierFacts& facts, const SaidByHosts& said, const std::string& wanted,
                  const std::string& before, const std::string& after, Finding& finding) {
  for (const auto& [host, one] : said.hosts) {
    if (one.first == wanted) continue;
    finding.fix.commands.push_back(
        fmt::format("{} dev {} {}  # on {}", before, interface_of(facts, host), after, host));
  }
}

Outcome judge_class_of_hosts(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const SaidByHosts pfc = said_by_hosts(facts, "PFC priorities", "", [](const evidence::Document& d) {
    const auto mask = fact_in(d, "qos.pfc_mask");
    if (!mask) return std::optional<std::string>();
    return std::optional(*mask == 0 ? std::string("none")
                                    : to_text(PrioritySet(static_cast<std::uint8_t>(*mask))));
  });
  judge_said(pfc, "PFC",
             "A priority that is lossless at one end only is lossy for the pair: pause of one is not heard, "
             "or not sent, at the other.",
             "Choose one priority with PFC, the same bitmap on every NIC and switch port.", findings, good);
  const std::size_t of_pfc = findings.size();
  const std::string dscp_fact = fmt::format("qos.dscp_{}_prio", facts.policy.plan.data_dscp.value());
  const SaidByHosts map =
      said_by_hosts(facts, fmt::format("priority of DSCP {}", facts.policy.plan.data_dscp.value()), "",
                    [&](const evidence::Document& d) -> std::optional<std::string> {
                      if (const auto priority = fact_in(d, dscp_fact))
                        return fmt::format("{}", static_cast<int>(*priority));
                      // A table that was shown and has no such row.
                      if (!d.host_part) return std::nullopt;
                      for (const host::Port& port : d.host_part->ports) {
                        if (port.dcb.app) return "no entry";
                      }
                      return std::nullopt;
                    });
  judge_said(map, "The DSCP map",
             "RoCE of one DSCP is in the lossless class on one host and elsewhere on the other.",
             "Give every host the same DSCP map.", findings, good);
  if (const auto priority = agreed_priority(pfc, map)) {
    const DefaultPlan& plan = facts.policy.plan;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (i < of_pfc) {
        add_commands(facts, pfc, fmt::format("{{{}}}", *priority), "dcb pfc set",
                     fmt::format("prio-pfc all:off {}:on", *priority), findings[i]);
      } else {
        add_commands(facts, map, fmt::format("{}", *priority), "dcb app replace",
                     fmt::format("dscp-prio {}:{} {}:{}", plan.data_dscp.value(), *priority,
                                 plan.cnp_dscp.value(), plan.cnp_priority.value()),
                     findings[i]);
      }
    }
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "class maps or PFC of two named hosts are not among the inputs");
}

}  // namespace

std::span<const Rule> told_class_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-6",
       .title = "RoCE moves in its class (pasted counters)",
       .condition = "Under load the packets of the RoCE priority move, in both directions.",
       .why = "Every setting may look right while applications never use the class.",
       .needs = "Per-priority packets of ethtool -S, best of two moments and both ends; a sign that RDMA is "
                "in use.",
       .decided =
           "With a class known (PFC, map): less than 1 % of the packets in it is a finding; of totals only "
           "none at all of 1000000. Without one: everything in priority 0 and nothing in the others.",
       .fix = "Traffic class of the applications on both ends; DSCP map; PFC.",
       .source = "bytedance/byteps#179; MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#115",
       .gates = {},
       .judge = judge_told_class},
      {.id = "MAP-3",
       .title = "All hosts have one class map",
       .condition = "PFC bitmap and the priority of the RoCE DSCP are the same on every host.",
       .why = "A class that is lossless at one end only is lossy.",
       .needs = "dcb, mlnx_qos or their JSON of at least two hosts.",
       .decided = "The latest state of each host is compared; the hosts that differ are named.",
       .fix = "One priority, one map.",
       .source = "Guo et al., SIGCOMM 2016",
       .gates = {},
       .judge = judge_class_of_hosts},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
