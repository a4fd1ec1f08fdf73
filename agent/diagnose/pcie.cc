#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {
namespace {

// A guest sees PCIe as its hypervisor pretends it. Nothing where that is not known.
std::optional<bool> is_guest(const host::Host& host) {
  if (!host.hypervisor) return std::nullopt;
  return !host.hypervisor->empty();
}

// ---- VM-1 ----

Outcome judge_hypervisor(const HostFacts& facts) {
  Needs need;
  const std::string* hypervisor = need(facts.host.hypervisor, "hypervisor");
  if (hypervisor == nullptr) return need.not_checked();
  const Evidence seen = setting("hypervisor", hypervisor->empty() ? "none" : *hypervisor, "", "CPU and DMI");
  if (hypervisor->empty()) return Outcome::passed({seen});
  Finding finding;
  finding.severity = Severity::info;
  finding.evidence = {seen};
  finding.cause =
      "This is a virtual machine: PCIe widths and speeds seen here mean nothing, and ACS is the host's "
      "matter.";
  finding.fix = advise(
      "Judge PCIe on the hypervisor; there peer-to-peer needs ACS on, with ATS and direct translated P2P.");
  return Outcome::found(std::move(finding));
}

// ---- PCIE-1 ----

// Payload rate of one lane after line coding: 8b/10b up to 5 GT/s, 128b/130b up to 32, 242 of 256 bytes of a
// flit at
// 64. Source: PCI Express Base Specification 6.0.
double lane_gigabits(double gt_per_s) {
  if (gt_per_s <= 5.0) return gt_per_s * 8 / 10;
  if (gt_per_s <= 32.0) return gt_per_s * 128 / 130;
  return gt_per_s * 242 / 256;
}

std::vector<Evidence> pcie_evidence(const host::PcieLink& pcie) {
  std::vector<Evidence> out;
  const auto add = [&](const char* name, const auto& value, const char* unit) {
    if (value) out.push_back(setting(name, *value, unit, "sysfs PCI"));
  };
  add("width", pcie.width_lanes, "lanes");
  add("largest width", pcie.max_width_lanes, "lanes");
  add("speed", pcie.speed_gt_per_s, "GT/s");
  add("largest speed", pcie.max_speed_gt_per_s, "GT/s");
  return out;
}

std::optional<Finding> degraded_link(const host::PcieLink& pcie) {
  const bool narrow = pcie.width_lanes && pcie.max_width_lanes && *pcie.width_lanes < *pcie.max_width_lanes;
  const bool slow =
      pcie.speed_gt_per_s && pcie.max_speed_gt_per_s && *pcie.speed_gt_per_s < *pcie.max_speed_gt_per_s;
  if (!narrow && !slow) return std::nullopt;
  Finding finding;
  finding.evidence = pcie_evidence(pcie);
  finding.cause =
      fmt::format("The NIC's PCIe link runs {} its {}.", narrow && slow ? "below both of" : "below",
                  narrow ? (slow ? "width and speed" : "width") : "speed");
  finding.fix = advise(
      "Reseat the card, check slot, riser and BIOS (bifurcation, link speed); look for AER errors in dmesg.");
  return finding;
}

std::optional<Finding> narrower_than_the_wire(const PortFacts& facts, const host::PcieLink& pcie) {
  if (!pcie.width_lanes || !pcie.speed_gt_per_s || !facts.port.link || !facts.port.link->speed)
    return std::nullopt;
  const double bus = *pcie.width_lanes * lane_gigabits(*pcie.speed_gt_per_s);
  const double wire = static_cast<double>(facts.port.link->speed->bits_per_second()) * 1e-9;
  if (bus >= wire) return std::nullopt;
  Finding finding;
  finding.evidence = pcie_evidence(pcie);
  finding.evidence.push_back(setting("link speed", to_text(*facts.port.link->speed), "", source::kLink));
  finding.cause = fmt::format(
      "PCIe carries {:.0f} Gb/s, the link {:.0f} Gb/s: the host drains slower than the wire.", bus, wire);
  finding.fix = advise("Move the card to a slot of full width and generation.");
  return finding;
}

Outcome judge_pcie(const PortFacts& facts) {
  if (is_guest(facts.host).value_or(false))
    return Outcome::not_checked("virtual machine: PCIe seen here means nothing (VM-1)");
  Needs need;
  const host::PcieLink* pcie = need(facts.port.pcie, "PCIe");
  if (pcie == nullptr) return need.not_checked();
  std::vector<Finding> findings;
  if (auto degraded = degraded_link(*pcie)) {
    findings.push_back(std::move(*degraded));
  } else if (auto narrow = narrower_than_the_wire(facts, *pcie)) {
    findings.push_back(std::move(*narrow));
  }
  std::vector<Evidence> seen = pcie_evidence(*pcie);
  const Bytes* request = need(pcie->max_read_request, "MaxReadReq");
  if (request != nullptr) {
    seen.push_back(setting("MaxReadReq", request->count(), "B", source::kPcie));
    if (*request < facts.policy.wanted_read_request) {
      Finding finding;
      finding.severity = Severity::info;
      finding.confidence = Confidence::medium;
      finding.evidence = {seen.back()};
      finding.cause =
          fmt::format("MaxReadReq is {} B: reads of send buffers take more requests than with {} B.",
                      request->count(), facts.policy.wanted_read_request.count());
      finding.fix = advise(
          fmt::format("Set MaxReadReq to {} B, and measure.", facts.policy.wanted_read_request.count()));
      findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (need.missing()) return need.not_checked();
  if (!pcie->width_lanes || !pcie->max_width_lanes || !pcie->speed_gt_per_s || !pcie->max_speed_gt_per_s) {
    return Outcome::not_checked("PCIe width or speed is not known");
  }
  return Outcome::passed(std::move(seen));
}

// ---- PCIE-2 ----

Outcome judge_acs(const PortFacts& facts) {
  if (is_guest(facts.host).value_or(false)) {
    return Outcome::not_checked(
        "virtual machine: ACS belongs to the hypervisor, and must be on there (VM-1)");
  }
  Needs need;
  const host::PcieLink* pcie = need(facts.port.pcie, "PCIe");
  const auto* bridges = pcie == nullptr ? nullptr : need(pcie->acs_redirecting_bridges, "ACS");
  const auto* gpus = need(facts.host.gpus, "GPUs");
  if (need.missing()) return need.not_checked();
  std::vector<Evidence> seen{setting("bridges that redirect", bridges->size(), "", source::kPcie),
                             setting("GPUs", gpus->size(), "", "PCI")};
  if (bridges->empty() || gpus->empty()) return Outcome::passed(std::move(seen));
  Finding finding;
  finding.evidence = std::move(seen);
  std::vector<std::string> commands;
  for (const std::string& bridge : *bridges) {
    finding.evidence.push_back(setting("redirects", bridge, "", source::kPcie));
    commands.push_back(fmt::format("setpci -s {} ECAP_ACS+0x6.w=0000", bridge));
  }
  finding.cause =
      "ACS redirects peer-to-peer requests to the root complex: GPU memory is read and written through it, "
      "at a fraction of the rate.";
  finding.fix =
      advise("Turn ACS redirection off on these bridges (bare metal only), or use ATS with a set-up for it.",
             std::move(commands));
  return Outcome::found(std::move(finding));
}

// ---- PCIE-4 ----

Outcome judge_iommu(const HostFacts& facts) {
  if (is_guest(facts.host).value_or(false))
    return Outcome::not_checked("virtual machine: the IOMMU that matters is the hypervisor's (VM-1)");
  Needs need;
  need(facts.host.hypervisor, "hypervisor");
  const std::string* iommu = need(facts.host.iommu, "IOMMU");
  const auto* gpus = need(facts.host.gpus, "GPUs");
  if (need.missing()) return need.not_checked();
  std::vector<Evidence> seen{setting("IOMMU", *iommu, "", "sysfs iommu groups, kernel command line"),
                             setting("GPUs", gpus->size(), "", "PCI")};
  if (*iommu != "translating" || gpus->empty()) return Outcome::passed(std::move(seen));
  Finding finding;
  finding.confidence = Confidence::medium;
  finding.evidence = std::move(seen);
  finding.cause =
      "The IOMMU translates on bare metal with GPUs: peer-to-peer between NIC and GPU is sent to the root "
      "complex to be translated, or fails with page faults.";
  finding.fix = advise(
      "Boot with iommu=pt, or use ATS where translation has to stay. If transfers fail, the first IOMMU page "
      "fault of the kernel log is the root event. No change of the network.",
      {"dmesg | grep -E 'IO_PAGE_FAULT|DMAR.*fault'"});
  return Outcome::found(std::move(finding));
}

// ---- HOST-2 ----

Outcome judge_placement(const HostFacts& facts) {
  Needs need;
  const auto* gpus = need(facts.host.gpus, "GPUs");
  const auto* affinity = need(facts.host.affinity, "distance of NICs and GPUs");
  if (need.missing()) return need.not_checked();
  if (gpus->empty()) return Outcome::not_checked("no GPU: where processes run is not visible");
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const host::Gpu& gpu : *gpus) {
    const host::Affinity* nearest = nullptr;
    for (const host::Affinity& pair : *affinity) {
      const bool judged = std::any_of(facts.ports.begin(), facts.ports.end(),
                                      [&](const PortFacts& p) { return p.port.name == pair.port; });
      if (pair.gpu != gpu.pci_address || !judged) continue;
      if (nearest == nullptr || pair.distance < nearest->distance) nearest = &pair;
    }
    if (nearest == nullptr) continue;
    seen.push_back(setting(fmt::format("nearest RoCE port of GPU {}", gpu.pci_address),
                           fmt::format("{} ({})", nearest->port, enum_name(nearest->distance)), "",
                           "PCI tree"));
    if (nearest->distance != host::PciDistance::cross_numa) continue;
    Finding finding;
    finding.severity = Severity::info;
    finding.subject = gpu.pci_address;
    finding.evidence = {seen.back()};
    finding.cause =
        fmt::format("The nearest RoCE port of GPU {} is on another NUMA node: its traffic crosses sockets.",
                    gpu.pci_address);
    finding.fix =
        advise("Use a NIC on the GPU's node where there is one, and bind its process to that node.");
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(seen),
                     "no distance between a GPU and a RoCE port is known");
}

}  // namespace

std::span<const Rule> pcie_rules() {
  static constexpr Rule kRules[] = {
      {.id = "VM-1",
       .title = "Bare metal, or PCIe is not judged",
       .condition = "PCIe and ACS advice is for bare metal only.",
       .why = "A guest sees PCIe as its hypervisor pretends it, and needs ACS on, not off, below.",
       .needs = "Hypervisor.",
       .decided = "Info in a guest; PCIE-1 and PCIE-2 are then not checked.",
       .fix = "Go to the hypervisor.",
       .source = "NVIDIA/nccl#949, #1453",
       .gates = {},
       .judge = judge_hypervisor},
      {.id = "PCIE-1",
       .title = "PCIe is as wide and fast as the NIC, and not narrower than the wire",
       .condition = "Width and speed are the NIC's largest and carry the link's rate; MaxReadReq is 4096 B.",
       .why = "A host that drains slower than the wire pauses the network.",
       .needs = "PCIe width and speed, now and largest; link speed; MaxReadReq from configuration space.",
       .decided =
           "Warning for width, speed or too little of both; info for MaxReadReq. Not checked in a guest.",
       .fix = "Slot, riser, BIOS.",
       .source = "PCI Express Base Specification; oci-hpc",
       .gates = {.infiniband_too = true, .any_nic = true},
       .judge = judge_pcie},
      {.id = "PCIE-2",
       .title = "ACS does not redirect peer-to-peer",
       .condition = "No bridge above the NIC redirects peer-to-peer requests, on bare metal with GPUs.",
       .why = "Redirected requests travel through the root complex, at a fraction of the rate.",
       .needs = "ACS control of the bridges (configuration space), GPUs, hypervisor.",
       .decided = "Finding if a bridge redirects and there are GPUs. Not checked in a guest.",
       .fix = "Turn redirection off there.",
       .source = "NVIDIA/nccl#489, #85",
       .gates = {.infiniband_too = true, .any_nic = true},
       .judge = judge_acs},
      {.id = "PCIE-4",
       .title = "The IOMMU does not stand between NIC and GPU",
       .condition = "On bare metal with GPUs the IOMMU is off or passes through.",
       .why = "Translated peer-to-peer goes through the root complex, or ends in page faults.",
       .needs = "IOMMU mode, GPUs, hypervisor. The kernel log is not read.",
       .decided =
           "Warning with confidence medium if it translates and there are GPUs: whether peer-to-peer is used "
           "is not visible. Not checked in a guest.",
       .fix = "iommu=pt, or ATS.",
       .source = "NVIDIA/nccl#928; Linux kernel parameters, iommu",
       .gates = {},
       .judge = judge_iommu},
      {.id = "HOST-2",
       .title = "GPUs have a RoCE port on their NUMA node",
       .condition = "The nearest RoCE port of each GPU is on its node.",
       .why = "Traffic across sockets is slower and pauses the network.",
       .needs = "GPUs and their PCI distance to NICs. Where processes run is not read.",
       .decided = "Info for each GPU whose nearest RoCE port is on another node.",
       .fix = "Choose another NIC, bind the process.",
       .source = "open-mpi/ompi#6888, openucx/ucx#7449",
       .gates = {},
       .judge = judge_placement},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
