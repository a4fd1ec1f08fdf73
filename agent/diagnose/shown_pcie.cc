// PCIe as lspci, the kernel's log and NCCL's topology show it.
#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/lspci.h"
#include "agent/evidence/rdma_tools/topology_xml.h"

namespace rocetune::diagnose {
namespace {

using evidence::KernelEvent;
using evidence::PciFunction;

constexpr const char* kGuest = "the texts come from a virtual machine: PCIe seen there means nothing (VM-1)";

// ---- VM-1 ----

// NICs and GPUs with a PCIe link of their own, as a machine without a hypervisor shows them.
std::vector<Evidence> physical_functions(const DossierFacts& facts) {
  std::vector<Evidence> out;
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    for (const PciFunction& f : listing->functions) {
      if ((f.is_network || f.is_gpu) && f.width_lanes.value_or(0) > 0 && out.size() < 8)
        out.push_back(shown(f.name() + " width", *f.width_lanes, "lanes", *document, f.width_line));
    }
  }
  for (const auto& [document, topology] : facts.dossier.all<evidence::Topology>()) {
    for (const evidence::TopologyPci& pci : topology->pcis) {
      if (!pci.is_bridge() && pci.link_width.value_or(0) > 0 && out.size() < 8)
        out.push_back(shown("PCI " + pci.bus_id + " width", *pci.link_width, "lanes", *document, pci.line));
    }
  }
  return out;
}

Outcome judge_guest(const DossierFacts& facts) {
  GuestSigns signs = guest_signs(facts);
  if (signs.evidence.empty()) {
    if (std::vector<Evidence> real = physical_functions(facts); !real.empty())
      return Outcome::passed(std::move(real));
    return Outcome::not_checked(
        "nothing shows whether the texts come from a virtual machine (lspci, topology, dmesg)");
  }
  Finding finding;
  // With a GPU beside, peer-to-peer is at stake; without, it is only good to know.
  finding.severity = signs.has_gpu ? Severity::warning : Severity::info;
  finding.confidence = signs.is_certain ? Confidence::high : Confidence::medium;
  finding.evidence = std::move(signs.evidence);
  finding.cause = fmt::format(
      "{}: PCIe widths and speeds seen here mean nothing, a library cannot see which NIC is near which GPU, "
      "and "
      "peer-to-peer is decided on the hypervisor's PCIe switches.",
      signs.is_certain ? "This is a virtual machine"
                       : "This looks like a virtual machine (virtual functions)");
  finding.fix = advise(
      "Give the library a topology file of the real machine (NCCL_TOPO_FILE). On the hypervisor peer-to-peer "
      "needs ACS "
      "on, with ATS on the NIC and direct translated P2P: do not turn ACS off there. Then compare with "
      "NCCL_NET_GDR_LEVEL=LOC.",
      {"env | grep NCCL_TOPO_FILE"});
  return Outcome::found(std::move(finding));
}

// ---- PCIE-1 ----

Finding narrow_bandwidth(const evidence::Document& document, const evidence::PcieBandwidth& bandwidth) {
  Finding finding;
  finding.subject = bandwidth.device;
  finding.evidence = {
      shown("available PCIe bandwidth", bandwidth.available_gbps, "Gb/s", document, bandwidth.line),
      shown("capable of", bandwidth.capable_gbps, "Gb/s", document, bandwidth.line)};
  finding.cause = fmt::format(
      "The kernel says that the NIC {} has {} Gb/s of PCIe, where it is capable of {}: {}{}. Less headers "
      "that is the "
      "ceiling of every transfer, whatever the network is set to.",
      bandwidth.device, bandwidth.available_gbps, bandwidth.capable_gbps,
      bandwidth.limited_by.empty() ? "a narrow link" : bandwidth.limited_by,
      bandwidth.limited_at.empty() ? "" : " at " + bandwidth.limited_at);
  finding.fix = advise(
      "Move the card to a slot of full width and generation, or look at riser, bifurcation and link speed in "
      "the BIOS; "
      "reseat it. Nothing in the network has to be changed for this.",
      {fmt::format("lspci -s {} -vvv | grep -E 'LnkCap|LnkSta'",
                   bandwidth.device.empty() ? "NIC" : bandwidth.device)});
  return finding;
}

std::optional<Finding> degraded(const evidence::Document& document, const PciFunction& f) {
  if (f.is_bridge || f.is_gpu || f.is_virtual_function || f.is_emulated) return std::nullopt;
  if (!f.is_network && !f.address.empty() && !f.text.empty()) return std::nullopt;  // some other card
  const bool narrow =
      f.width_lanes && f.max_width_lanes && *f.width_lanes > 0 && *f.width_lanes < *f.max_width_lanes;
  const bool slow = f.speed_gt_per_s && f.max_speed_gt_per_s && *f.speed_gt_per_s < *f.max_speed_gt_per_s;
  if (!narrow && !slow) return std::nullopt;
  // Without its device line it may be a GPU that saves power, or a port with a small card in it.
  if (!f.is_network && !narrow) return std::nullopt;
  Finding finding;
  finding.subject = f.name();
  finding.confidence = f.is_network ? Confidence::high : Confidence::medium;
  const auto text = [](std::optional<int> width, std::optional<double> speed) {
    return fmt::format("x{} at {} GT/s", width.value_or(0), speed.value_or(0));
  };
  finding.evidence = {
      shown("LnkSta", text(f.width_lanes, f.speed_gt_per_s), "", document, f.width_line),
      shown("LnkCap", text(f.max_width_lanes, f.max_speed_gt_per_s), "", document, f.width_line)};
  finding.cause =
      fmt::format("The PCIe link of {} runs {}, where {} is possible.", f.name(),
                  text(f.width_lanes, f.speed_gt_per_s), text(f.max_width_lanes, f.max_speed_gt_per_s));
  finding.fix = advise(
      "Reseat the card; look at slot, riser, bifurcation and link speed in the BIOS, and for AER errors.",
      {"dmesg | grep -i -E 'AER|PCIe bandwidth'"});
  return finding;
}

// Uncorrected PCIe errors, or very many that were corrected.
void add_bus_errors(const evidence::Document& document, const evidence::KernelLog& log,
                    std::vector<Finding>& findings, const Policy& policy) {
  const evidence::KernelEvents& bad = log.of(KernelEvent::aer_uncorrected);
  const evidence::KernelEvents& mended = log.of(KernelEvent::aer_corrected);
  if (bad.count == 0 && mended.count < policy.notable_corrected_pcie_errors) return;
  const evidence::KernelEvents& events = bad.count > 0 ? bad : mended;
  Finding finding;
  finding.confidence = Confidence::medium;
  finding.subject = events.lines[0].device;
  finding.evidence = {shown("kernel log", events.lines[0].text, "", document, events.lines[0].line),
                      shown("lines of that kind", events.count, "", document)};
  finding.cause =
      fmt::format("The PCIe link reports {} errors: it repeats or loses transfers between NIC and memory.",
                  bad.count > 0 ? "uncorrected" : "many corrected");
  finding.fix = advise(
      "Reseat the card or riser, then swap it; update BIOS and firmware. This is no fault of the network.");
  findings.push_back(std::move(finding));
}

Outcome judge_shown_links(const DossierFacts& facts) {
  if (!guest_signs(facts).evidence.empty()) return Outcome::not_checked(kGuest);
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>()) {
    for (const evidence::PcieBandwidth& bandwidth : log->bandwidths) {
      if (bandwidth.available_gbps < bandwidth.capable_gbps * 0.999 && findings.size() < kMostShownFindings) {
        findings.push_back(narrow_bandwidth(*document, bandwidth));
      } else if (seen.size() < 16) {
        seen.push_back(shown(bandwidth.device + " available PCIe bandwidth", bandwidth.available_gbps, "Gb/s",
                             *document, bandwidth.line));
      }
    }
    add_bus_errors(*document, *log, findings, facts.policy);
  }
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    for (const PciFunction& f : listing->functions) {
      if (!f.width_lanes || findings.size() >= kMostShownFindings) continue;
      if (auto finding = degraded(*document, f)) {
        findings.push_back(std::move(*finding));
      } else if (f.max_width_lanes && !f.is_bridge && seen.size() < 16) {
        seen.push_back(shown(f.name() + " LnkSta width", *f.width_lanes, "lanes", *document, f.width_line));
      }
    }
  }
  return Outcome::of(
      std::move(findings), std::move(seen),
      "neither LnkSta with LnkCap (lspci -vvv) nor the kernel's line about PCIe bandwidth is there");
}

// ---- PCIE-2 ----

Outcome judge_shown_acs(const DossierFacts& facts) {
  if (!guest_signs(facts).evidence.empty())
    return Outcome::not_checked(
        "the texts come from a virtual machine: ACS belongs to the hypervisor, and must be on there (VM-1)");
  Finding now;
  std::vector<Evidence> seen, before;
  std::vector<std::string> commands;
  std::size_t ports = 0, redirecting = 0;
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    // What was so before is evidence of it, but not what has to be changed now.
    const bool is_past =
        std::any_of(facts.dossier.pairs().begin(), facts.dossier.pairs().end(),
                    [document = document](const evidence::Pair& pair) { return pair.before == document; });
    for (const PciFunction& f : listing->functions) {
      if (!f.acs_redirects) continue;
      ++ports;
      Evidence line = shown(f.name() + " ACSCtl", *f.acs_redirects ? "redirects" : "does not redirect", "",
                            *document, f.acs_line);
      if (!*f.acs_redirects) {
        if (seen.size() < 8) seen.push_back(std::move(line));
      } else if (is_past) {
        if (before.size() < 8) before.push_back(std::move(line));
      } else {
        ++redirecting;
        if (now.evidence.size() < 8) now.evidence.push_back(std::move(line));
        if (!f.address.empty() && commands.size() < 32)
          commands.push_back(fmt::format("setpci -s {} ECAP_ACS+0x6.w=0000", f.address));
      }
    }
  }
  if (ports == 0) return Outcome::not_checked("no ACSCtl line (lspci -vvv as root) is among the inputs");
  if (redirecting == 0 && before.empty()) return Outcome::passed(std::move(seen));
  if (redirecting == 0) {
    now.severity = Severity::info;
    now.evidence = std::move(before);
    now.evidence.insert(now.evidence.end(), seen.begin(), seen.end());
    now.cause = "ACS redirected peer-to-peer requests to the root complex before, and does not any more.";
    now.fix = advise("Make it last: it is lost at a reboot unless the BIOS or a boot unit does it.");
    return Outcome::found(std::move(now));
  }
  now.cause = fmt::format(
      "{} of {} PCIe ports redirect peer-to-peer requests to the root complex (ReqRedir, CmpltRedir or "
      "UpstreamFwd is "
      "on): between a NIC and a GPU such transfers run at a fraction of the rate or fail as local protection "
      "errors. "
      "SrcValid alone would be no redirect.",
      redirecting, ports);
  now.fix = advise(
      "On bare metal turn ACS redirection off on the switch ports between NIC and GPU, in the BIOS or by "
      "setpci at "
      "every boot; where an IOMMU has to translate, use ATS instead. Never inside or below virtual machines.",
      std::move(commands));
  return Outcome::found(std::move(now));
}

// ---- PCIE-3 ----

Outcome judge_shown_ordering(const DossierFacts& facts) {
  Finding finding;
  std::vector<Evidence> seen;
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    for (const PciFunction& f : listing->functions) {
      if (!f.relaxed_ordering || f.is_bridge || f.is_gpu || f.is_emulated) continue;
      if (!f.is_network && !f.text.empty()) continue;
      Evidence line =
          shown(f.name() + " RlxdOrd", *f.relaxed_ordering ? "on" : "off", "", *document, f.ordering_line);
      if (*f.relaxed_ordering) {
        seen.push_back(std::move(line));
      } else if (finding.evidence.size() < 8) {
        finding.evidence.push_back(std::move(line));
      }
    }
  }
  if (!finding.evidence.empty()) {
    finding.severity = Severity::info;
    finding.confidence = Confidence::medium;
    finding.cause =
        "The NIC may not use relaxed ordering (RlxdOrd-): every write waits for the one before it, which "
        "slows the "
        "drain of received data on many hosts, AMD EPYC above all.";
    finding.fix = advise(
        "Allow it in the BIOS (PCIe relaxed ordering) and compare; libraries ask for it by memory region.");
    return Outcome::found(std::move(finding));
  }
  if (seen.empty())
    return Outcome::not_checked("no DevCtl with RlxdOrd of a NIC (lspci -vvv) is among the inputs");
  return Outcome::passed(std::move(seen));
}

// ---- PCIE-4 ----

Outcome judge_shown_faults(const DossierFacts& facts) {
  std::vector<Finding> findings;
  bool has_log = false;
  const evidence::Document* last = nullptr;
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>()) {
    has_log = true;
    last = document;
    const evidence::KernelEvents& events = log->of(KernelEvent::iommu_fault);
    if (events.count == 0) continue;
    // The first in time is the root event; logs may be pasted out of order.
    const auto first = std::min_element(
        events.lines.begin(), events.lines.end(),
        [](const auto& a, const auto& b) { return a.time_s.value_or(1e18) < b.time_s.value_or(1e18); });
    Finding finding;
    finding.severity = Severity::critical;
    finding.confidence = first->device.empty() ? Confidence::medium : Confidence::high;
    finding.subject = first->device.empty() ? document->host.value_or("") : first->device;
    finding.evidence = {shown("first fault", first->text, "", *document, first->line),
                        shown("IOMMU faults", events.count, "", *document)};
    if (!log->iommu.empty()) finding.evidence.push_back(shown("IOMMU", log->iommu, "", *document));
    finding.cause = fmt::format(
        "The IOMMU refused an access{}: a device used an address that is not mapped for it. What fails later "
        "(local "
        "protection errors, retries, hangs) follows from this event.",
        first->device.empty() ? "" : " of " + first->device);
    finding.fix = advise(
        "Boot with iommu=pt (or use ATS where translation has to stay), and bring kernel, NIC and GPU driver "
        "to "
        "versions that map peer memory. Nothing in the network has to be changed.",
        {"cat /proc/cmdline", "dmesg | grep -E 'IO_PAGE_FAULT|DMAR.*fault'"});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!has_log) return Outcome::not_checked("no kernel log is among the inputs");
  return Outcome::passed({shown("IOMMU faults in the kernel log", 0, "", *last)});
}

}  // namespace

std::span<const Rule> shown_pcie_rules() {
  static constexpr Rule kRules[] = {
      {.id = "VM-1",
       .title = "Texts of a virtual machine are not judged as bare metal",
       .condition = "No virtual function, emulated bridge, link of width 0 or hypervisor flag is shown.",
       .why = "A guest sees PCIe as its hypervisor pretends it, and needs ACS on, not off, below.",
       .needs = "lspci, NCCL topology XML or the kernel's log.",
       .decided = "Warning if a GPU is shown beside, else info; passes where NICs or GPUs show a PCIe link. "
                  "Confidence medium if a virtual function is "
                  "all there is.",
       .fix = "A topology file; the hypervisor.",
       .source = "NVIDIA/nccl#949, #1453; pci.ids",
       .gates = {},
       .judge = judge_guest},
      {.id = "PCIE-1",
       .title = "PCIe is as wide and fast as it can be, as texts show it",
       .condition =
           "The kernel reports no limited PCIe bandwidth; LnkSta of the NIC is its LnkCap; no bus errors.",
       .why = "A host that drains slower than the wire pauses the network, or is the ceiling itself.",
       .needs = "The kernel's line about PCIe bandwidth, or LnkSta and LnkCap of the NIC.",
       .decided = "Warning. Bridges, GPUs (which save power) and emulated devices do not count; never from a "
                  "virtual machine.",
       .fix = "Slot, riser, BIOS.",
       .source = "Linux drivers/pci/pci.c (pcie_print_link_status); PCI Express Base Specification",
       .gates = {},
       .judge = judge_shown_links},
      {.id = "PCIE-2",
       .title = "ACS does not redirect peer-to-peer, as texts show it",
       .condition = "No ACSCtl line has ReqRedir+, CmpltRedir+ or UpstreamFwd+.",
       .why = "Redirected requests travel through the root complex, at a fraction of the rate, or fail.",
       .needs = "ACSCtl lines of lspci -vvv, read as root.",
       .decided = "Warning; info if it was so before and is not after. SrcValid alone is no redirect. Never "
                  "from a virtual "
                  "machine, where ACS has to be on.",
       .fix = "Turn redirection off on the ports between NIC and GPU.",
       .source = "NVIDIA/nccl#304, #489, #85",
       .gates = {},
       .judge = judge_shown_acs},
      {.id = "PCIE-3",
       .title = "The NIC may use relaxed ordering",
       .condition = "DevCtl of the NIC has RlxdOrd+.",
       .why = "Strict ordering slows the drain of received data and shows up as pause sent.",
       .needs = "DevCtl of the NIC (lspci -vvv).",
       .decided = "Info.",
       .fix = "BIOS; then the library's setting.",
       .source = "kvcache-ai/Mooncake#3205, NVIDIA/nccl#1731",
       .gates = {},
       .judge = judge_shown_ordering},
      {.id = "PCIE-4",
       .title = "The IOMMU refuses nothing",
       .condition = "The kernel's log has no IOMMU fault.",
       .why = "A refused access ends in local protection errors or hangs that look like the network's.",
       .needs = "The kernel's log.",
       .decided = "Critical; the first fault in time is named as the root event.",
       .fix = "iommu=pt, or ATS; drivers.",
       .source = "NVIDIA/nccl#928; Linux drivers/iommu",
       .gates = {},
       .judge = judge_shown_faults},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
