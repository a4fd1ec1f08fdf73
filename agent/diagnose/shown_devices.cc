// Which RDMA devices there are and are used, as texts show it: link layer, halves of one adapter, functions.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/rdma_tools/iblinkinfo.h"
#include "agent/evidence/rdma_tools/lspci.h"
#include "agent/host/words.h"

namespace rocetune::diagnose {
namespace {

// ---- NET-3 ----

// What logs and benchmarks say of the link layer: "mlx5_0:1/IB", LIDs, "Link type : IB".
void add_told_layers(const DossierFacts& facts, std::vector<Evidence>& infiniband,
                     std::vector<Evidence>& ethernet) {
  for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
    for (const evidence::NcclDevices& devices : log->devices) {
      if (devices.is_infiniband) infiniband.push_back(quoted("devices in use", devices.quote, *document));
      if (devices.is_roce) ethernet.push_back(quoted("devices in use", devices.quote, *document));
    }
  }
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    for (const evidence::FailedCompletion& failed : seen.signs->completions.first) {
      if (failed.is_infiniband) infiniband.push_back(quoted("failed request", failed.quote, *seen.document));
    }
  }
  for (const RunSeen& seen : perftest_runs_in(facts.dossier)) {
    if (seen.run->link_type == "IB") infiniband.push_back(shown("Link type", "IB", "", *seen.document));
    if (seen.run->is_ethernet()) ethernet.push_back(shown("Link type", "Ethernet", "", *seen.document));
  }
}

Outcome judge_shown_link_layer(const DossierFacts& facts) {
  std::vector<Evidence> infiniband, ethernet;
  for (const auto& [document, links] : facts.dossier.all<evidence::FabricLinks>()) {
    infiniband.push_back(shown("iblinkinfo, active links", links->active, "", *document));
  }
  for (const ShownPort& port : shown_ports(facts)) {
    if (!port.view->rdma.state.empty() && !port.view->is_active()) continue;
    if (port.view->is_infiniband() && infiniband.size() < 8) {
      infiniband.push_back(
          port.view->rdma.link_layer == host::LinkLayer::infiniband
              ? shown(port.subject() + " link layer", "InfiniBand", "", *port.document, port.view->layer_line)
              : shown(port.subject() + " LID", *port.view->lid, "", *port.document, port.view->line));
    } else if (port.view->rdma.link_layer == host::LinkLayer::ethernet && ethernet.size() < 8) {
      ethernet.push_back(
          shown(port.subject() + " link layer", "Ethernet", "", *port.document, port.view->layer_line));
    }
  }
  if (infiniband.empty() && ethernet.empty()) add_told_layers(facts, infiniband, ethernet);
  constexpr std::size_t kMostQuotes = 8;
  for (std::vector<Evidence>* kind : {&infiniband, &ethernet}) {
    if (kind->size() > kMostQuotes) kind->resize(kMostQuotes);
  }
  if (infiniband.empty() && ethernet.empty())
    return Outcome::not_checked(
        "no link layer is shown (ibstat, ibv_devinfo, iblinkinfo, a log's device lines)");
  if (infiniband.empty()) return Outcome::passed(std::move(ethernet));
  Finding finding;
  const bool mixed = !ethernet.empty();
  finding.severity = mixed ? Severity::info : Severity::warning;
  finding.subject = mixed ? "some ports" : "";
  finding.evidence = std::move(infiniband);
  finding.evidence.insert(finding.evidence.end(), ethernet.begin(), ethernet.end());
  finding.cause = fmt::format(
      "{} InfiniBand, not RoCE: PFC, DSCP, ECN, GID and Ethernet MTU advice does not apply there and is "
      "withheld, and a "
      "traffic class that is set has no effect.",
      mixed ? "Some of the active links are" : "The links are");
  finding.fix = advise(
      "Use the subnet manager's means (service levels, virtual lanes, its congestion control), and look at "
      "link errors first.",
      {"ibqueryerrors", "iblinkinfo"});
  return Outcome::found(std::move(finding));
}

// ---- NET-2 ----

// "roceP2p1s0f0", "mlx5_0" -> the PCI domain in a predictable name: 2, 0. Nothing where names do not tell.
std::optional<std::string> pci_domain_of(const std::string& device) {
  for (const char* prefix : {"roce", "ib", "iwarp"}) {
    if (!device.starts_with(prefix)) continue;
    const std::string rest = device.substr(std::string(prefix).size());
    if (rest.starts_with("p")) return "0";
    if (!rest.starts_with("P")) return std::nullopt;
    const auto end = rest.find('p');
    return end == std::string::npos || end < 2 ? std::nullopt : std::optional(rest.substr(1, end - 1));
  }
  return std::nullopt;
}

// "=mlx5_0:1,mlx5_1" and "^mlx5_2": a library's list of devices.
bool is_listed(std::string_view list, const std::string& device) {
  const bool excludes = list.starts_with('^');
  while (!list.empty() && (list.front() == '^' || list.front() == '=')) list.remove_prefix(1);
  bool named = false;
  for (std::string_view name : host::split(list, ',')) {
    name = name.substr(0, name.find(':'));
    named |= device == name || (!name.empty() && device.starts_with(name));
  }
  return named != excludes;
}

Outcome judge_adapter_halves(const DossierFacts& facts) {
  std::map<std::pair<std::string, std::string>, std::vector<ShownPort>> adapters;  // host, image GUID
  for (const ShownPort& port : shown_ports(facts)) {
    if (!port.view->is_active() || !port.view->rdma.system_image_guid) continue;
    auto& ports = adapters[{port.host(), *port.view->rdma.system_image_guid}];
    const bool known = std::any_of(ports.begin(), ports.end(), [&](const ShownPort& other) {
      return other.view->rdma.device == port.view->rdma.device;
    });
    if (!known) ports.push_back(port);
  }
  const std::vector<ShownSetting> lists = shown_settings(facts, "NCCL_IB_HCA");
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [adapter, ports] : adapters) {
    std::set<std::string> domains;
    for (const ShownPort& port : ports) {
      if (const auto domain = pci_domain_of(port.view->rdma.device)) domains.insert(*domain);
      if (seen.size() < 16)
        seen.push_back(shown(port.subject() + " system image GUID", adapter.second, "", *port.document,
                             port.view->guid_line));
    }
    if (domains.size() < 2 || findings.size() >= kMostShownFindings) continue;
    Finding finding;
    finding.confidence = Confidence::medium;
    std::string names, missing;
    for (const ShownPort& port : ports) {
      names += (names.empty() ? "" : ",") + port.view->rdma.device;
      finding.evidence.push_back(shown(port.subject() + " system image GUID", adapter.second, "",
                                       *port.document, port.view->guid_line));
    }
    for (const ShownSetting& list : lists) {
      if (list.setting->value.empty() || !may_be_one_host(list.host(), adapter.first)) continue;
      for (const ShownPort& port : ports) {
        if (is_listed(list.setting->value, port.view->rdma.device)) continue;
        missing += (missing.empty() ? "" : ", ") + port.view->rdma.device;
      }
      finding.evidence.push_back(list.shown());
    }
    finding.severity = missing.empty() ? Severity::info : Severity::warning;
    finding.subject = ports[0].host().empty() ? names : ports[0].host() + " " + names;
    finding.cause = fmt::format(
        "{} are functions of one adapter (same system image GUID) in different PCI domains: each has only "
        "its part of "
        "the adapter's PCIe lanes, so that one alone cannot fill the port{}.",
        names,
        missing.empty() ? (lists.empty() ? "; which of them the job uses is not shown" : "")
                        : "; NCCL_IB_HCA leaves out " + missing);
    finding.fix = advise(
        "Use both: give each an address in a subnet of its own, list both, and let the library join them. "
        "Ports that are "
        "down do not matter.",
        {fmt::format("export NCCL_IB_HCA={} NCCL_IB_MERGE_NICS=1", names)});
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(seen),
                     "no system image GUIDs of active ports (ibstat, ibv_devinfo) are among the inputs");
}

// ---- HOST-1 ----

Outcome judge_shown_functions(const DossierFacts& facts) {
  std::vector<Evidence> virtual_ones, physical;
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    for (const evidence::PciFunction& f : listing->functions) {
      if (!f.is_network || f.is_emulated) continue;
      auto& list = f.is_virtual_function ? virtual_ones : physical;
      if (list.size() < 8) list.push_back(shown(f.name(), f.text, "", *document, f.line));
    }
  }
  if (virtual_ones.empty() && physical.empty())
    return Outcome::not_checked("lspci does not show what kind of function the NIC is");
  if (!physical.empty()) return Outcome::passed(std::move(physical));
  const evidence::Document* qos = nullptr;
  for (const evidence::Document& document : facts.dossier.documents()) {
    if (qos == nullptr && (document.format == "mlnx-qos" || document.format.starts_with("dcb")))
      qos = &document;
  }
  Finding finding;
  finding.severity = qos == nullptr ? Severity::info : Severity::warning;
  finding.confidence = Confidence::medium;
  finding.evidence = std::move(virtual_ones);
  if (qos != nullptr)
    finding.evidence.push_back(shown("class map of this machine", qos->format, "", *qos, qos->first_line));
  finding.cause =
      "All NICs shown are virtual functions: class map, PFC and buffers belong to the physical function.";
  finding.fix = advise("Look at and set QoS on the physical function, in the machine that owns it.");
  return Outcome::found(std::move(finding));
}

}  // namespace

std::span<const Rule> shown_device_rules() {
  static constexpr Rule kRules[] = {
      {.id = "NET-3",
       .title = "The links are Ethernet, as texts show it",
       .condition = "No active port has link layer InfiniBand or a LID, and no InfiniBand tool answers.",
       .why = "Much that is called RoCE is InfiniBand: advice about PFC, DSCP, ECN, GIDs and Ethernet MTU is "
              "void there.",
       .needs = "Link layer or LID of active ports (ibstat, ibstatus, ibv_devinfo), or iblinkinfo.",
       .decided = "Warning if all active links are InfiniBand: the premise is wrong; info if some are. The "
                  "line transport: "
                  "InfiniBand (0) stands on RoCE devices too and proves nothing.",
       .fix = "The subnet manager's QoS.",
       .source = "rdma-core, ibv_devinfo; infiniband-diags",
       .gates = {},
       .judge = judge_shown_link_layer},
      {.id = "NET-2",
       .title = "All functions of an adapter are used",
       .condition = "No two active devices share a system image GUID over different PCI domains, of which "
                    "one is not used.",
       .why = "Each function has only its part of the adapter's PCIe lanes.",
       .needs = "System image GUIDs and predictable names of active ports; NCCL_IB_HCA where it is set.",
       .decided = "Warning if NCCL_IB_HCA leaves one out, info if what is used is not shown. Ports that are "
                  "down do not count.",
       .fix = "List both, with NCCL_IB_MERGE_NICS=1.",
       .source = "NVIDIA/dgx-spark-playbooks#102",
       .gates = {},
       .judge = judge_adapter_halves},
      {.id = "HOST-1",
       .title = "QoS is looked at on physical functions, as texts show it",
       .condition = "lspci does not show virtual functions only.",
       .why = "A virtual function has no class map of its own.",
       .needs = "Device lines of lspci.",
       .decided = "Info; warning if a class map of the same machine is among the inputs.",
       .fix = "Go to the physical function.",
       .source = "Mellanox/network-operator#269; pci.ids",
       .gates = {},
       .judge = judge_shown_functions},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
