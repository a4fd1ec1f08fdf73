// Rules over logs of NCCL and of programs: is RDMA used at all, with GPUDirect, with the right driver.
#include <algorithm>

#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::NcclLog;

// ---- GDR-1 ----

std::vector<std::string> hcas_of(const evidence::Few<evidence::Quote>& lines) {
  std::vector<std::string> out;
  for (const evidence::Quote& quote : lines.first) {
    std::string name = (quote.host.empty() ? "" : quote.host + " ") +
                       std::string(evidence::word_behind(quote.text, "for HCA "));
    const auto open = quote.text.rfind('\'', quote.text.size() < 2 ? 0 : quote.text.size() - 2);
    if (quote.text.ends_with('\'') && open != std::string::npos) {
      name = (quote.host.empty() ? "" : quote.host + " ") +
             quote.text.substr(open + 1, quote.text.size() - open - 2);
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  }
  return out;
}

// The setting that forbids GPUDirect, if one does.
std::optional<Evidence> gdr_forbidden(const DossierFacts& facts) {
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_NET_GDR_LEVEL")) {
    if (seen.setting->value == "LOC" || seen.setting->value == "0") return seen.shown();
  }
  return std::nullopt;
}

Finding staged(const evidence::Document& document, const NcclLog& log) {
  Finding finding;
  std::uint64_t gdr = 0, plain = 0, plain_send = 0;
  std::vector<std::string> without;
  std::size_t with = 0;
  for (const evidence::NcclChannels& channels : log.channels) {
    const std::uint64_t here = channels.plain_send + channels.plain_receive;
    gdr += channels.gdr_send + channels.gdr_receive;
    plain += here;
    plain_send += channels.plain_send;
    if (here > 0) {
      if (!channels.host.empty()) without.push_back(channels.host);
      if (finding.evidence.size() < 2) {
        finding.evidence.push_back(quoted("channel without GPUDirect", channels.first_plain, document));
      }
    } else if (channels.gdr_send + channels.gdr_receive > 0) {
      ++with;
    }
  }
  finding.evidence.push_back(shown("network channels with and without GPUDirect",
                                   fmt::format("{} and {}", gdr, plain), "", document));
  finding.subject = without.empty() ? document.file : listed(without, 3);
  finding.cause =
      "Data between GPU and NIC is staged through host memory: channels run without GPUDirect RDMA";
  if (with > 0 && !without.empty()) {
    finding.cause += fmt::format(", only on {}: that host differs from the others", listed(without, 3));
  } else if (gdr > 0 && plain_send == plain) {
    finding.cause += ", only when sending (NCCL_NET_GDR_READ decides that on some platforms)";
    finding.confidence = Confidence::medium;
  } else if (gdr > 0) {
    finding.cause += ", on some of them";
  }
  finding.cause += ".";
  return finding;
}

constexpr const char* kEnableGdr =
    "Make peer memory work on every host: nvidia-peermem loaded and registered (built against the ib_core "
    "that is running: "
    "reinstall the GPU driver after OFED), or DMA-BUF (open GPU kernel modules, kernel 5.12 or newer). "
    "Loaded is not "
    "registered. Then allow it by NCCL_NET_GDR_LEVEL, and look at ACS.";

Outcome judge_gpudirect(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, log] : facts.dossier.all<NcclLog>()) {
    bool is_plain = false;
    std::uint64_t gdr = 0;
    for (const evidence::NcclChannels& channels : log->channels) {
      is_plain |= channels.plain_send + channels.plain_receive > 0;
      gdr += channels.gdr_send + channels.gdr_receive;
    }
    if (!log->gdr_disabled.empty()) {
      Finding finding;
      const auto hcas = hcas_of(log->gdr_disabled);
      finding.subject = listed(hcas, 3);
      for (const evidence::Quote& quote : log->gdr_disabled.first) {
        if (finding.evidence.size() < 3) finding.evidence.push_back(quoted("GPUDirect", quote, *document));
      }
      finding.cause = fmt::format(
          "NCCL found no GPUDirect RDMA for {}{}: all data goes through host memory, at a fraction of the "
          "rate.",
          finding.subject, log->gdr_enabled.empty() ? "" : ", while other HCAs have it");
      findings.push_back(std::move(finding));
    } else if (is_plain) {
      findings.push_back(staged(*document, *log));
    } else if (gdr > 0 || !log->gdr_enabled.empty()) {
      good.push_back(shown("network channels with GPUDirect", gdr, "", *document));
    }
  }
  const std::optional<Evidence> forbidden = gdr_forbidden(facts);
  for (Finding& finding : findings) {
    finding.fix =
        advise(kEnableGdr, {"lsmod | grep peermem", "cat /sys/kernel/mm/memory_peers/nv_mem/version",
                            "dmesg | grep -iE 'peermem|nvidia'", "modprobe nvidia-peermem"});
    if (forbidden) {
      finding.evidence.push_back(*forbidden);
      finding.severity = Severity::info;
      finding.cause += " NCCL_NET_GDR_LEVEL forbids it.";
      finding.fix = advise("Unset NCCL_NET_GDR_LEVEL when the test is over.");
    }
  }
  return Outcome::of(
      std::move(findings), std::move(good),
      "no log says whether GPUDirect RDMA is used (lines \"via NET/IB/n/GDRDMA\" or \"GPU Direct RDMA ... "
      "for HCA\" of NCCL_DEBUG=INFO)");
}

// ---- NET-1 ----

// All ranks on one host: the network is not used, whatever it is.
bool is_one_node(const NcclLog& log) {
  if (log.nodes) return *log.nodes <= 1;
  if (log.hosts.size() > 1) return false;
  const bool over_network =
      std::any_of(log.channels.begin(), log.channels.end(), [](const evidence::NcclChannels& channels) {
        return channels.socket + channels.gdr_send + channels.gdr_receive + channels.plain_send +
                   channels.plain_receive >
               0;
      });
  return !over_network && log.ranks && *log.ranks == 1;
}

Finding without_rdma(const evidence::Document& document, const NcclLog& log, bool over_socket,
                     const std::vector<ShownSetting>& disabled) {
  Finding finding;
  finding.subject = log.hosts.empty() ? document.file : listed(log.hosts, 3);
  for (const auto* lines : {&log.signs.no_rdma, &log.no_ib_device, &log.socket_used}) {
    if (!lines->empty()) finding.evidence.push_back(quoted("transport", lines->first.front(), document));
  }
  for (const evidence::NcclChannels& channels : log.channels) {
    if (channels.socket > 0 && finding.evidence.size() < 5) {
      finding.evidence.push_back(quoted("channel over TCP", channels.first_socket, document));
    }
  }
  for (const ShownSetting& seen : disabled) finding.evidence.push_back(seen.shown());
  finding.cause = !log.signs.no_rdma.empty()
                      ? "RDMA is not used at all: the verbs library could not be loaded in this "
                        "environment (a container "
                        "without rdma-core), so that NCCL falls back to TCP sockets."
                  : !log.no_ib_device.empty() ? "RDMA is not used: NCCL found no usable verbs device "
                                                "(provider library, device files or permissions "
                                                "are missing, or NCCL_IB_HCA names none)."
                                              : "RDMA is not used: NCCL runs over TCP sockets.";
  if (is_one_node(log)) {
    finding.severity = Severity::info;
    finding.cause += " All ranks share one node, so it costs nothing here.";
  } else {
    finding.severity = over_socket || log.hosts.size() > 1 ? Severity::critical : Severity::warning;
    finding.confidence = over_socket || log.hosts.size() > 1 ? Confidence::high : Confidence::medium;
    if (finding.confidence == Confidence::medium)
      finding.cause += " It is harmless where all ranks share one node.";
  }
  finding.fix = advise(
      "Install rdma-core with the NIC's provider in the environment of the job, give it /dev/infiniband "
      "and an unlimited "
      "memlock, and unset NCCL_IB_DISABLE; the log must then say \"NET/IB : Using\".",
      {"ibv_devices", "ls -l /dev/infiniband", "ldconfig -p | grep libibverbs"});
  return finding;
}

Outcome judge_rdma_used(const DossierFacts& facts) {
  std::vector<ShownSetting> disabled = shown_settings(facts, "NCCL_IB_DISABLE");
  std::erase_if(disabled, [](const ShownSetting& seen) { return seen.setting->value != "1"; });
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const auto& [document, log] : facts.dossier.all<NcclLog>()) {
    const bool over_socket =
        std::any_of(log->channels.begin(), log->channels.end(),
                    [](const evidence::NcclChannels& channels) { return channels.socket > 0; });
    const bool bad =
        !log->signs.no_rdma.empty() || !log->socket_used.empty() || !log->no_ib_device.empty() || over_socket;
    if (!log->ib_used.empty() && !over_socket) {
      good.push_back(quoted("network in use", log->ib_used.first.front(), *document));
      continue;
    }
    if (!bad) continue;
    findings.push_back(without_rdma(*document, *log, over_socket, disabled));
  }
  // Without a log the environment alone tells.
  if (findings.empty() && good.empty() && !disabled.empty()) {
    Finding finding;
    finding.subject = environment_of(disabled.front());
    finding.evidence = {disabled.front().shown()};
    finding.cause = "NCCL_IB_DISABLE=1 turns RDMA off: NCCL runs over TCP sockets.";
    finding.fix = advise("Unset NCCL_IB_DISABLE.");
    findings.push_back(std::move(finding));
  }
  for (const auto& [document, log] : facts.dossier.all<evidence::AppLog>()) {
    if (log->signs.no_rdma.empty()) continue;
    Finding finding;
    finding.severity = Severity::warning;
    finding.subject = document->host.value_or(document->file);
    finding.evidence = {quoted("transport", log->signs.no_rdma.first.front(), *document)};
    finding.cause = "The program finds no usable RDMA device.";
    finding.fix = advise(
        "Check the verbs devices in the environment of that program: provider library, /dev/infiniband, "
        "names.",
        {"ibv_devices", "ls -l /dev/infiniband"});
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no log says which network the library uses (\"NET/IB : Using\", \"Using network\")");
}

// ---- DRV-1 ----

Outcome judge_provider(const DossierFacts& facts) {
  std::vector<Finding> findings;
  for (const SignsSeen& seen : signs_in(facts.dossier)) {
    if (seen.signs->missing_provider.empty()) continue;
    const evidence::Quote& quote = seen.signs->missing_provider.first.front();
    Finding finding;
    finding.severity = Severity::critical;
    finding.subject = seen.document->host.value_or(seen.document->file);
    finding.evidence = {quoted("libibverbs", quote, *seen.document)};
    const bool abi = evidence::contains(quote.text, "kernel ABI");
    finding.cause =
        abi ? "The userspace provider and the kernel driver speak different versions of the verbs ABI."
            : "The userspace provider library of the NIC is missing: the kernel shows the device, but no "
              "program can "
              "open it.";
    finding.fix = advise(
        "Install the provider that belongs to the kernel driver (rdma-core's ibverbs-providers, or the "
        "vendor's "
        "package) in the environment of the job, container included.",
        {"ls /usr/lib/*/libibverbs", "ibv_devices", "modinfo -F version ib_core"});
    findings.push_back(std::move(finding));
  }
  for (const ShownSetting& seen : shown_settings(facts, "LD_PRELOAD")) {
    if (!evidence::contains(seen.setting->value, "-rdmav")) continue;
    Finding finding;
    finding.severity = Severity::info;
    finding.subject = environment_of(seen);
    finding.evidence = {seen.shown()};
    finding.cause =
        "The verbs provider is loaded by LD_PRELOAD: the environment lacks it, so every program that is "
        "started without that "
        "variable finds no device, and its version must match the kernel's driver.";
    finding.fix = advise(
        "Install the vendor's provider in the image, so that libibverbs finds it by itself, or pass the "
        "variable "
        "to all ranks.",
        {"ibv_devices", "ls /etc/libibverbs.d"});
    findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  std::vector<Evidence> good;
  for (const auto& [document, log] : facts.dossier.all<NcclLog>()) {
    if (!log->devices.empty())
      good.push_back(quoted("devices opened", log->devices.front().quote, *document));
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("no log says whether verbs devices could be opened");
}

}  // namespace

std::span<const Rule> gpu_path_rules() {
  static constexpr Rule kRules[] = {
      {.id = "DRV-1",
       .title = "The NIC's userspace provider is there and fits the kernel",
       .condition = "No warning of libibverbs about a driver, no provider that has to be preloaded.",
       .why = "Without it a device is seen and cannot be opened; the library then falls back to TCP.",
       .needs = "A log with libibverbs' warnings, or with the devices that were opened; the environment.",
       .decided = "Critical for a missing or unfit provider, info for one that is preloaded.",
       .fix = "Install the provider that belongs to the kernel driver.",
       .source = "verl-project/verl#1516",
       .gates = {},
       .judge = judge_provider},
      {.id = "NET-1",
       .title = "RDMA is used",
       .condition = "The library says that it uses verbs devices, and no channel runs over sockets.",
       .why = "A container without rdma-core falls back to TCP in silence.",
       .needs = "A log of NCCL_DEBUG=INFO, or of another program that says so.",
       .decided = "Critical if several hosts talk over sockets, warning if that is likely, info on one node.",
       .fix = "rdma-core and provider in the environment; device files; NCCL_IB_DISABLE unset.",
       .source = "NVIDIA/nccl-tests#100, ROCm/rccl#1728",
       .gates = {},
       .judge = judge_rdma_used},
      {.id = "GDR-1",
       .title = "GPUDirect RDMA is used on every host and HCA",
       .condition = "No HCA without GPUDirect, every network channel with /GDRDMA.",
       .why = "Else data is staged through host memory, at a third of the rate or so.",
       .needs = "A log of NCCL_DEBUG=INFO.",
       .decided = "Warning; info if the environment forbids it.",
       .fix = "Peer memory registered or DMA-BUF, on the host that lacks it.",
       .source = "NVIDIA/nccl#1412, #1537, #1939",
       .gates = {},
       .judge = judge_gpudirect},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
