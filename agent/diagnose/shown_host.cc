// A host around its NICs, as texts show it: where GPUs are, which modules and drivers fail.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/host_tools/lsmod.h"
#include "agent/evidence/logs/nccl_log.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/nvidia_smi_topo.h"

namespace rocetune::diagnose {
namespace {

// ---- HOST-2 ----

// The words of nvidia-smi topo: 0 PIX, 1 PXB, 2 PHB, 3 NODE, 4 SYS.
constexpr int kAcrossSockets = 4;

struct NearestNic {
  std::string gpu, nic, word;
  int distance = kAcrossSockets;
};

std::vector<NearestNic> nearest_nics(const evidence::TopologyMatrix& matrix) {
  std::vector<NearestNic> out;
  for (const auto& [row, relations] : matrix.how) {
    if (!evidence::is_gpu_label(row)) continue;
    std::optional<NearestNic> nearest;
    for (const auto& [column, word] : relations) {
      const auto distance = evidence::distance_of(word);
      if (!evidence::is_nic_label(column) || !distance) continue;
      if (!nearest || *distance < nearest->distance) nearest = NearestNic{row, column, word, *distance};
    }
    if (nearest) out.push_back(*nearest);
  }
  return out;
}

Outcome judge_shown_placement(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [document, matrix] : facts.dossier.all<evidence::TopologyMatrix>()) {
    Finding finding;
    std::string far;
    std::size_t gpus = 0;
    for (const NearestNic& nearest : nearest_nics(*matrix)) {
      ++gpus;
      Evidence line = shown("nearest NIC of " + nearest.gpu,
                            fmt::format("{} ({})", matrix->name_of(nearest.nic), nearest.word), "", *document,
                            matrix->lines.at(nearest.gpu));
      if (nearest.distance < kAcrossSockets) {
        if (seen.size() < 16) seen.push_back(std::move(line));
        continue;
      }
      far += (far.empty() ? "" : ", ") + nearest.gpu;
      if (finding.evidence.size() < 8) finding.evidence.push_back(std::move(line));
    }
    if (far.empty()) continue;
    finding.confidence = Confidence::medium;
    finding.subject = document->host.value_or("");
    finding.cause = fmt::format(
        "{} of {} GPUs ({}) have no NIC on their own socket: their traffic crosses the link between sockets, "
        "and "
        "GPUDirect RDMA is not used over that distance by default.",
        std::count(far.begin(), far.end(), ',') + 1, gpus, far);
    finding.fix = advise(
        "Use NICs on the GPUs' own node where there are any, and bind processes to it; else move a NIC to "
        "the other "
        "socket. Compare the two sockets by perftest with --use_cuda and numactl.",
        {"nvidia-smi topo -m", "cat /sys/class/infiniband/*/device/numa_node"});
    findings.push_back(std::move(finding));
  }
  return Outcome::of(
      std::move(findings), std::move(seen),
      "where GPUs, NICs and processes are (nvidia-smi topo -m, lstopo, numactl) is not among the inputs");
}

// ---- DRV-1 ----

void add_kernel_findings(const evidence::Document& document, const evidence::KernelLog& log,
                         std::vector<Finding>& findings) {
  struct Row {
    evidence::KernelEvent kind;
    const char* cause;
    const char* fix;
  };
  static constexpr Row kRows[] = {
      {evidence::KernelEvent::peer_memory,
       "The peer-memory module does not load or register with ib_core: it was built against another ib_core "
       "than the one "
       "in use. Without it (or DMA-BUF) GPUDirect RDMA is off.",
       "Install the NVIDIA driver after the RDMA stack, so that nvidia_peermem is built against it; or use "
       "the open kernel "
       "module with DMA-BUF (kernel 5.12 or later), which needs no such module."},
      {evidence::KernelEvent::symbol_mismatch,
       "A module does not fit the kernel or the modules it stands on: it was built against others.",
       "Rebuild or reinstall the driver packages for this kernel (dkms), remove what is left of older ones, "
       "and load the "
       "modules anew."},
      {evidence::KernelEvent::probe_failed,
       "A NIC's or RDMA driver did not bind to its device: there is no RDMA device then.",
       "Look at the first line of this kind; update firmware and driver, and load the RDMA module."},
  };
  for (const Row& row : kRows) {
    const evidence::KernelEvents& events = log.of(row.kind);
    if (events.count == 0 || findings.size() >= kMostShownFindings) continue;
    Finding finding;
    finding.subject = events.lines[0].device.empty() ? document.host.value_or("") : events.lines[0].device;
    for (std::size_t i = 0; i < std::min<std::size_t>(events.lines.size(), 3); ++i)
      finding.evidence.push_back(
          shown("kernel log", events.lines[i].text, "", document, events.lines[i].line));
    finding.cause = row.cause;
    finding.fix = advise(row.fix, {"modinfo nvidia_peermem | grep -E 'filename|vermagic|depends'",
                                   "dkms status", "lsmod | grep -E 'ib_core|peermem'"});
    findings.push_back(std::move(finding));
  }
}

// Each NIC driver and the module that makes RDMA devices of it.
constexpr std::pair<std::string_view, std::string_view> kRdmaModules[] = {
    {"mlx5_core", "mlx5_ib"}, {"mlx4_core", "mlx4_ib"}, {"bnxt_en", "bnxt_re"}, {"qede", "qedr"}};

void add_missing_modules(const evidence::Document& document, const evidence::Lsmod& lsmod,
                         std::vector<Finding>& findings) {
  const auto finding_about = [&](const evidence::LoadedModule& shown_module, std::string cause,
                                 std::string fix, std::string command) {
    Finding finding;
    finding.subject = document.host.value_or("");
    finding.evidence = {shown("loaded", shown_module.name, "", document, shown_module.line)};
    finding.confidence = Confidence::medium;
    finding.cause = std::move(cause);
    finding.fix = advise(std::move(fix), {std::move(command)});
    findings.push_back(std::move(finding));
  };
  if (!lsmod.is_whole) return;
  for (const auto& [nic, rdma] : kRdmaModules) {
    const evidence::LoadedModule* module = lsmod.find(nic);
    if (module == nullptr || lsmod.find(rdma) != nullptr) continue;
    finding_about(*module, fmt::format("{} is loaded and {} is not: the NIC has no RDMA device.", nic, rdma),
                  "Load the RDMA module, and install it if it is not there.",
                  fmt::format("modprobe {}", rdma));
  }
  const evidence::LoadedModule* core = lsmod.find("ib_core");
  if (core != nullptr && lsmod.find("ib_uverbs") == nullptr) {
    finding_about(*core, "ib_core is loaded and ib_uverbs is not: programs cannot open RDMA devices.",
                  "Load it.", "modprobe ib_uverbs");
  }
}

// GPUDirect is said to be off while its module is loaded: it is not registered.
std::optional<Finding> unregistered_peer_memory(const DossierFacts& facts) {
  for (const auto& [log_document, log] : facts.dossier.all<evidence::NcclLog>()) {
    if (log->gdr_disabled.empty() || log->gdr_disabled.first.empty()) continue;
    for (const auto& [document, lsmod] : facts.dossier.all<evidence::Lsmod>()) {
      const evidence::LoadedModule* module = nullptr;
      for (const char* name : {"nvidia_peermem", "nv_peer_mem", "ib_peer_mem"}) {
        if (module == nullptr) module = lsmod->find(name);
      }
      if (module == nullptr && !lsmod->is_whole) continue;
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = document->host.value_or("");
      const evidence::Quote& quote = log->gdr_disabled.first.front();
      finding.evidence = {shown("log", quote.text, "", *log_document, quote.line)};
      if (module != nullptr) {
        finding.evidence.push_back(shown("loaded", module->name, "", *document, module->line));
        finding.cause = fmt::format(
            "{} is loaded, but NCCL finds no peer memory registered: loaded is not registered. As a rule it "
            "was built "
            "against another ib_core than the one in use.",
            module->name);
        finding.fix = advise(
            "Reinstall the NVIDIA driver after the RDMA stack, so that the module is built against it, and "
            "look that it "
            "registers; or use the open kernel module with DMA-BUF (kernel 5.12 or later).",
            {"cat /sys/kernel/mm/memory_peers/nv_mem/version", "dmesg | grep -i peermem"});
      } else {
        finding.evidence.push_back(
            shown("lsmod", "no peer-memory module", "", *document, document->first_line));
        finding.cause = "GPUDirect RDMA is off and no peer-memory module is loaded.";
        finding.fix = advise(
            "Load nvidia_peermem on every host, or use DMA-BUF (open kernel module, kernel 5.12 or later).",
            {"modprobe nvidia_peermem"});
      }
      return finding;
    }
  }
  return std::nullopt;
}

Outcome judge_shown_drivers(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> seen;
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>()) {
    add_kernel_findings(*document, *log, findings);
    seen.push_back(shown("module errors in the kernel log", 0, "", *document));
  }
  for (const auto& [document, lsmod] : facts.dossier.all<evidence::Lsmod>()) {
    add_missing_modules(*document, *lsmod, findings);
    if (lsmod->is_whole) seen.push_back(shown("loaded modules", lsmod->modules.size(), "", *document));
  }
  if (auto finding = unregistered_peer_memory(facts)) findings.push_back(std::move(*finding));
  return Outcome::of(std::move(findings), std::move(seen),
                     "neither a kernel log nor a whole lsmod is among the inputs");
}

}  // namespace

std::span<const Rule> shown_host_rules() {
  static constexpr Rule kRules[] = {
      {.id = "HOST-2",
       .title = "GPUs have a NIC on their socket, as texts show it",
       .condition = "Every GPU of nvidia-smi topo -m has a NIC nearer than SYS.",
       .why = "Traffic across sockets is slower, pauses the network, and is not GPUDirect by default.",
       .needs = "nvidia-smi topo -m. Where processes run is not read.",
       .decided = "Warning, confidence medium.",
       .fix = "NICs and processes on the GPU's node.",
       .source = "NCCL documentation, NCCL_NET_GDR_LEVEL; open-mpi/ompi#6888",
       .gates = {},
       .judge = judge_shown_placement},
      {.id = "DRV-1",
       .title = "Modules and drivers fit each other, as texts show it",
       .condition = "The kernel's log shows no module that was refused and no driver that did not bind; "
                    "lsmod has the RDMA "
                    "module of each NIC driver; peer memory that is loaded is registered.",
       .why = "Without the module there is no device, or no GPUDirect, whatever the network is set to.",
       .needs =
           "The kernel's log; lsmod (whole, for what is missing); a log that says whether GPUDirect is used.",
       .decided = "Warning; confidence medium for what lsmod alone shows.",
       .fix = "Packages built for each other; load the module.",
       .source = "NVIDIA/nccl#1537, #1939; nvidia-peermem documentation",
       .gates = {},
       .judge = judge_shown_drivers},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
