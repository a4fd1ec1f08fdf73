#include "agent/diagnose/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "agent/host/rdma_carrier.h"

namespace rocetune::diagnose {
namespace {

constexpr const char* kHostSubject = "host";

bool owns_its_port(host::PortRole role) {
  return role != host::PortRole::virtual_function && role != host::PortRole::dpu_host &&
         role != host::PortRole::representor;
}

std::string why_not_its_own(const PortFacts& facts) {
  if (facts.port.role == host::PortRole::dpu_host) {
    return "the host side of a DPU does not own the port: the DPU's own processor does";
  }
  if (facts.port.role == host::PortRole::representor)
    return "a representor stands for a function, not for a wire";
  return fmt::format(
      "a virtual function has no class map of its own: it is set on its physical function{} (HOST-1)",
      facts.port.physical_function ? " " + *facts.port.physical_function : "");
}

// Why a rule has nothing to say about a port; empty if it may judge.
std::string closed_gate(const Rule& rule, const PortFacts& facts) {
  const host::RdmaPort* rdma = facts.rdma();
  if (!rule.gates.infiniband_too && rdma != nullptr && rdma->link_layer == host::LinkLayer::infiniband) {
    return "the link is InfiniBand: Ethernet advice is withheld (NET-3)";
  }
  if (!rule.gates.any_function && !owns_its_port(facts.port.role)) return why_not_its_own(facts);
  if (!rule.gates.any_nic && facts.nic == nullptr) {
    return fmt::format("unknown kind of NIC \"{}\" (driver {}): its settings and counters are not understood",
                       facts.port.nic, facts.port.driver.empty() ? "not known" : facts.port.driver);
  }
  if (rule.scope() == Scope::traffic) return why_no_traffic_verdict(facts, rule.gates.idle_too);
  return {};
}

Outcome judge(const Rule& rule, const PortFacts& facts) {
  if (std::string why = closed_gate(rule, facts); !why.empty()) return Outcome::not_checked(std::move(why));
  Outcome outcome = rule.scope() == Scope::port ? std::get<JudgePort>(rule.judge)(facts)
                                                : std::get<JudgeTraffic>(rule.judge)(facts, *facts.delta);
  if (facts.nic == nullptr && outcome.value().index() == 1) {
    return Outcome::not_checked(fmt::format(
        "nothing wrong seen, but the kind of NIC \"{}\" is unknown: no pass on it", facts.port.nic));
  }
  return outcome;
}

// "DCB PFC" of a told host becomes "DCB PFC, hostB.dcb.txt:3".
void name_files(std::vector<Evidence>& evidence, const ToldBy& told_by) {
  for (Evidence& one : evidence) {
    if (const auto files = told_by.find(one.source); files != told_by.end())
      one.source += ", " + files->second;
  }
}

// An empty subject: the inputs as a whole.
void record(Report& report, const Rule& rule, const std::string& subject, Outcome outcome,
            const ToldBy& told_by) {
  const std::string id(rule.id);
  const std::string named = subject.empty() ? "inputs" : subject;
  if (auto* findings = std::get_if<std::vector<Finding>>(&outcome.value())) {
    for (Finding& finding : *findings) {
      finding.rule = id;
      name_files(finding.evidence, told_by);
      if (finding.subject.empty()) {
        finding.subject = named;
      } else if (!subject.empty()) {
        finding.subject = subject + " " + finding.subject;
      }
      report.findings.push_back(std::move(finding));
    }
  } else if (auto* evidence = std::get_if<std::vector<Evidence>>(&outcome.value())) {
    name_files(*evidence, told_by);
    report.passed.push_back({id, named, std::move(*evidence)});
  } else {
    report.not_checked.push_back({id, named, std::move(std::get<std::string>(outcome.value()))});
  }
}

bool is_wanted(const Facts& facts, const host::Port& port) {
  return facts.only_ports.empty() ||
         std::find(facts.only_ports.begin(), facts.only_ports.end(), port.name) != facts.only_ports.end();
}

// The name of a port, with its host's in front where there are several hosts.
std::string subject_of(const Facts& facts, const host::Host& host, const std::string& port) {
  return facts.hosts.size() > 1 && !host.name.empty() ? host.name + " " + port : port;
}

HostFacts host_facts(const Facts& facts, const JudgedHost& judged, Report& report) {
  HostFacts out{*judged.host, facts.policy, facts.declared, {}};
  for (const host::Port& port : judged.host->ports) {
    const std::string subject = subject_of(facts, *judged.host, port.name);
    if (!is_wanted(facts, port)) {
      report.skipped.push_back({subject, "not asked for"});
      continue;
    }
    if (facts.only_ports.empty() && !host::carries_rdma(*judged.host, port)) {
      report.skipped.push_back({subject, "no RDMA device: not a RoCE port"});
      continue;
    }
    out.ports.push_back({*judged.host, port, facts.policy, facts.policy.traits_of(port.nic), facts.declared,
                         class_of(port, facts.declared, facts.policy.plan),
                         judged.interval == nullptr ? nullptr : judged.interval->find_port(port.name)});
  }
  return out;
}

// The class of all ports, if they have the same.
std::optional<RoceClass> common_class(const std::vector<HostFacts>& hosts) {
  std::optional<RoceClass> out;
  for (const HostFacts& facts : hosts) {
    for (const PortFacts& port : facts.ports) {
      if (!port.roce_class) continue;
      if (out && (out->priority != port.roce_class->priority || out->dscp != port.roce_class->dscp))
        return std::nullopt;
      out = port.roce_class;
    }
  }
  return out;
}

// A bond has no class map: its members have.
std::string class_text(const PortFacts& facts) {
  if (facts.roce_class) return to_text(*facts.roce_class);
  return facts.port.role == host::PortRole::bond ? "see its members" : "no RoCE class is set up";
}

std::string summary_of(const Capture& capture) {
  return fmt::format("{}: {} frames in {:.3g} s, {} RoCE packets in {} flows", capture.file,
                     capture.facts.frames, capture.facts.duration_s, capture.facts.roce_packets,
                     capture.facts.data_flows);
}

// The formats found in each file, each once, in the order of its documents.
std::map<std::string, std::vector<std::string>> formats_by_file(const evidence::Dossier& dossier) {
  std::map<std::string, std::vector<std::string>> out;
  for (const evidence::Document& document : dossier.documents()) {
    std::vector<std::string>& formats = out[document.file];
    if (std::ranges::find(formats, document.format) == formats.end()) formats.push_back(document.format);
  }
  return out;
}

// "nccl.log: nccl-log, env; 3 of 40 lines not understood".
std::string summary_of(const evidence::FileReport& file, const std::vector<std::string>& formats) {
  std::string out = file.name + ": ";
  for (const std::string& format : formats) out += (&format == &formats.front() ? "" : ", ") + format;
  if (formats.empty()) out += "nothing recognised";
  if (file.unread > 0) out += fmt::format("; {} of {} lines not understood", file.unread, file.lines);
  for (const std::string& remark : file.remarks) out += "; " + remark;
  return out;
}

void apply(const Rule& rule, const Facts& facts, const std::vector<HostFacts>& hosts,
           const std::optional<RoceClass>& roce_class, Report& report) {
  if (rule.scope() == Scope::capture) {
    for (const Capture& capture : facts.captures) {
      record(report, rule, capture.file,
             std::get<JudgeCapture>(rule.judge)({capture, facts.policy, facts.declared, roce_class}), {});
    }
  } else if (rule.scope() == Scope::dossier) {
    if (facts.dossier == nullptr) return;
    record(report, rule, "",
           std::get<JudgeDossier>(rule.judge)(
               {*facts.dossier, hosts, facts.captures, facts.policy, facts.declared, facts.counted}),
           {});
  } else if (hosts.empty()) {
    record(report, rule, kHostSubject, Outcome::not_checked("there is no host among the inputs"), {});
  } else {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const HostFacts& host = hosts[i];
      if (facts.hosts[i].is_told && rule.gates.texts_speak) continue;
      if (rule.scope() == Scope::host) {
        record(report, rule, subject_of(facts, host.host, kHostSubject),
               std::get<JudgeHost>(rule.judge)(host), facts.hosts[i].told_by);
        continue;
      }
      for (const PortFacts& port : host.ports) {
        record(report, rule, subject_of(facts, host.host, port.port.name), judge(rule, port),
               facts.hosts[i].told_by);
      }
    }
  }
}

// A host of which several states are judged: the name of one, and the name without the state.
struct HostState {
  std::string name;   // "node1 (before)"
  std::string plain;  // "node1"
};

std::vector<HostState> host_states(std::span<const JudgedHost> hosts) {
  std::map<std::string, int> states;
  for (const JudgedHost& judged : hosts) {
    if (const auto plain = host_without_state(judged.host->name)) ++states[*plain];
  }
  std::vector<HostState> out;
  for (const JudgedHost& judged : hosts) {
    const auto plain = host_without_state(judged.host->name);
    if (plain && states[*plain] >= 2) out.push_back({judged.host->name, *plain});
  }
  return out;
}

// What is wrong alike in several states of a host is one finding of that host.
void unite_states(const Facts& facts, std::vector<Finding>& findings) {
  const std::vector<HostState> states = host_states(facts.hosts);
  if (states.empty()) return;
  // Rule, subject without the state, cause: the first such finding.
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> first;
  std::vector<Finding> out;
  for (Finding& finding : findings) {
    const auto state = std::ranges::find_if(
        states, [&](const HostState& one) { return finding.subject.starts_with(one.name); });
    if (state != states.end()) {
      std::string plain = state->plain + finding.subject.substr(state->name.size());
      if (plain.starts_with(' ')) plain.erase(0, 1);
      const auto [at, is_new] = first.try_emplace({finding.rule, plain, finding.cause}, out.size());
      if (!is_new) {
        out[at->second].subject = plain;
        continue;
      }
    }
    out.push_back(std::move(finding));
  }
  findings = std::move(out);
}

}  // namespace

std::optional<std::uint64_t> rdma_packets(const counters::PortDelta& delta) {
  const auto sent = delta.increment("rdma_tx_packets");
  const auto received = delta.increment("rdma_rx_packets");
  if (!sent && !received) return std::nullopt;
  return sent.value_or(0) + received.value_or(0);
}

std::string why_no_traffic_verdict(const PortFacts& facts, bool idle_too) {
  if (facts.delta == nullptr) return "no counters were sampled";
  const counters::PortDelta& delta = *facts.delta;
  const Duration elapsed = std::max({delta.elapsed, delta.rdma_elapsed, delta.dcb_elapsed});
  if (elapsed <= Duration(0)) return "no counter of this port could be read twice";
  if (idle_too) return {};
  std::optional<std::uint64_t> packets = rdma_packets(delta);
  std::string what = "RDMA packets";
  if (!packets && facts.roce_class) {
    const auto sent = delta.increment("tx_packets", facts.roce_class->priority);
    const auto received = delta.increment("rx_packets", facts.roce_class->priority);
    if (sent || received) packets = sent.value_or(0) + received.value_or(0);
    what = fmt::format("packets in priority {}", facts.roce_class->priority.value());
  }
  if (!packets) return "no counter of this port tells whether RDMA traffic flows";
  if (*packets >= facts.policy.idle_below_packets) return {};
  return fmt::format("idle: {} {} in {:.1f} s, a verdict takes {}", *packets, what, elapsed.seconds(),
                     facts.policy.idle_below_packets);
}

Report diagnose(const Facts& facts, std::span<const Rule* const> rules) {
  Report report;
  std::vector<HostFacts> hosts;
  for (const JudgedHost& judged : facts.hosts) {
    hosts.push_back(host_facts(facts, judged, report));
    for (const PortFacts& port : hosts.back().ports) {
      report.classes.push_back(
          fmt::format("{}: {}", subject_of(facts, *judged.host, port.port.name), class_text(port)));
    }
  }
  if (hosts.size() == 1) report.host = hosts.front().host.name;
  const std::optional<RoceClass> roce_class = common_class(hosts);
  for (const Capture& capture : facts.captures) report.captures.push_back(summary_of(capture));
  if (facts.dossier != nullptr) {
    auto formats = formats_by_file(*facts.dossier);
    for (const evidence::FileReport& file : facts.dossier->files()) {
      report.texts.push_back(summary_of(file, formats[file.name]));
    }
  }
  for (const Rule* rule : rules) apply(*rule, facts, hosts, roce_class, report);
  unite_states(facts, report.findings);
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return report;
}

Report diagnose(const Facts& facts) { return diagnose(facts, all_rules()); }

}  // namespace rocetune::diagnose
