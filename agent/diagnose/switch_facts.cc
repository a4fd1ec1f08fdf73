#include "agent/diagnose/switch_facts.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/finding_groups.h"

namespace rocetune::diagnose {

using evidence::SwitchEvidence;
using evidence::SwitchModel;
using evidence::SwitchSettings;
using evidence::SwitchSystem;

std::string SwitchText::name() const {
  if (!model().name.empty()) return model().name;
  if (document->host && !document->host->empty()) return *document->host;
  return fmt::format("{} in {}", maker_name(model().system), document->file);
}

std::vector<SwitchText> switch_texts(const DossierFacts& facts) {
  std::vector<SwitchText> out;
  for (const auto& [document, content] : facts.dossier.all<SwitchEvidence>())
    out.push_back({document, content});
  return out;
}

std::string SwitchPorts::text() const { return named(ports, ports.size() <= 3 ? 3 : 2); }

namespace {

SwitchSettings part_of(SwitchSettings settings, SwitchAspect aspect) {
  if (aspect == SwitchAspect::everything) return settings;
  SwitchSettings out;
  out.pfc = settings.pfc;
  out.queue_of_priority = std::move(settings.queue_of_priority);
  if (aspect == SwitchAspect::classes) {
    out.trust = settings.trust;
    out.priority_of_dscp = std::move(settings.priority_of_dscp);
  } else {
    out.queues = std::move(settings.queues);
    out.buffers = std::move(settings.buffers);
  }
  return out;
}

}  // namespace

std::vector<SwitchPorts> alike_ports(const SwitchModel& model, SwitchAspect aspect) {
  std::vector<SwitchPorts> out;
  for (auto& [port, all] : model.all()) {
    SwitchSettings settings = part_of(std::move(all), aspect);
    const auto same = std::ranges::find_if(out, [&](const SwitchPorts& p) { return p.settings == settings; });
    if (same != out.end()) {
      same->ports.push_back(port);
    } else {
      out.push_back({{port}, std::move(settings)});
    }
  }
  return out;
}

std::string subject_of(const SwitchText& text, const SwitchPorts& ports) {
  const std::string which = ports.text();
  return text.name() + (which.empty() ? "" : " " + which);
}

namespace {

// A mark with those who set it.
struct MarkList {
  std::vector<MarkedTraffic> marks;
  std::vector<std::vector<std::string>> senders;

  void add(MarkedTraffic mark) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (marks[i].dscp != mark.dscp || marks[i].priority != mark.priority) continue;
      if (std::ranges::find(senders[i], mark.who) == senders[i].end()) senders[i].push_back(mark.who);
      return;
    }
    senders.push_back({mark.who});
    marks.push_back(std::move(mark));
  }
  std::vector<MarkedTraffic> take() {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (senders[i].size() > 1) marks[i].who += fmt::format(" and {} more", senders[i].size() - 1);
    }
    return std::move(marks);
  }
};

std::string who_of(const HostFacts& host, const PortFacts& port) {
  return host.host.name.empty() ? port.port.name : host.host.name + " " + port.port.name;
}

}  // namespace

std::vector<MarkedTraffic> marked_traffic(const DossierFacts& facts) {
  MarkList out;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (!port.roce_class || !port.roce_class->dscp) continue;
      if (!port.roce_class->declared && port.roce_class->confidence == Confidence::low) continue;
      const std::string who = who_of(host, port);
      out.add({*port.roce_class->dscp, port.roce_class->priority, who,
               setting("DSCP of RoCE on " + who, port.roce_class->dscp->value(), "",
                       "its class map: " + port.roce_class->origin)});
    }
  }
  for (const evidence::Document& document : facts.dossier.documents()) {
    for (const evidence::Fact& fact : document.facts) {
      if (fact.name != "map.dscp" || !Dscp::is_valid(static_cast<std::int64_t>(fact.value))) continue;
      const Dscp dscp(static_cast<int>(fact.value));
      out.add({dscp, std::nullopt, document.file,
               shown("DSCP set for RDMA", dscp.value(), "", document, document.first_line)});
    }
  }
  for (const Capture& capture : facts.captures) {
    if (capture.facts.dscps.empty()) continue;
    const tap::DscpFacts& most = capture.facts.dscps.front();
    out.add({most.dscp, std::nullopt, capture.file,
             setting(fmt::format("RoCE packets with DSCP {}", most.dscp.value()), most.packets, "packets",
                     capture.file)});
  }
  if (facts.declared.dscp) {
    out.add({*facts.declared.dscp, facts.declared.priority, "the plan",
             setting("DSCP declared", facts.declared.dscp->value(), "", facts.declared.origin)});
  }
  return out.take();
}

std::vector<HostLossless> host_lossless(const DossierFacts& facts) {
  std::vector<HostLossless> out;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (port.port.dcb.pfc && !port.port.dcb.pfc->enabled.is_empty())
        out.push_back({who_of(host, port), port.port.dcb.pfc->enabled});
    }
  }
  return out;
}

std::optional<Priority> switch_priority(SwitchSystem system, const SwitchSettings& settings, Dscp dscp) {
  if (const auto mapped = priority_of(settings, dscp)) return mapped;
  if (settings.priority_of_dscp.empty()) return std::nullopt;
  switch (system) {
    // What no entry or class names goes to the default class.
    case SwitchSystem::sonic:
    case SwitchSystem::nxos:
    case SwitchSystem::junos:
    case SwitchSystem::routeros:
      return Priority(0);
    // By the upper three bits.
    case SwitchSystem::nvue:
    case SwitchSystem::onyx:
    case SwitchSystem::eos:
      return Priority(dscp.value() / 8);
    case SwitchSystem::unknown:
      return std::nullopt;
  }
  return std::nullopt;
}

Outcome judge_switches(const DossierFacts& facts, SwitchAspect aspect, const std::string& reason,
                       const JudgeSwitchPorts& judge) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  const auto texts = switch_texts(facts);
  for (const SwitchText& text : texts) {
    for (const SwitchPorts& ports : alike_ports(text.model(), aspect)) judge(text, ports, findings, good);
  }
  return Outcome::of(std::move(findings), std::move(good),
                     texts.empty() ? "there is no text of a switch among the inputs" : reason);
}

}  // namespace rocetune::diagnose
