#include "agent/evidence/rdma_tools/kernel_phrases.h"

#include <bitset>
#include <cstddef>
#include <iterator>

#include "agent/evidence/line.h"
#include "agent/evidence/text_index.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

// A line is of a kind if it holds `first`, and one of the words of `second` where there are any. The first
// row that fits counts. Wordings: Linux drivers/net/ethernet (mlx4, mlx5, bnxt, ice, i40e, qede),
// drivers/infiniband, drivers/iommu, drivers/pci/pcie/aer.c; nvidia-peermem.
struct Phrase {
  KernelEvent kind;
  std::string_view first;
  std::string_view second = {};  // "this|or that"
};

constexpr Phrase kPhrases[] = {
    {KernelEvent::pcie_bandwidth, "available PCIe bandwidth"},
    {KernelEvent::iommu_fault, "IO_PAGE_FAULT"},
    {KernelEvent::iommu_fault, "DMAR",
     "fault addr|handling fault|PTE Read access|PTE Write access|fault reason"},
    {KernelEvent::iommu_fault, "arm-smmu", "event 0x10|F_TRANSLATION|Unhandled context fault|F_PERMISSION"},
    {KernelEvent::iommu_fault, "AMD-Vi: Event logged", "INVALID_DEVICE_REQUEST|ILLEGAL_DEV_TABLE"},
    {KernelEvent::aer_corrected, "PCIe Bus Error: severity=Corrected"},
    {KernelEvent::aer_uncorrected, "PCIe Bus Error: severity=Uncorrected"},
    {KernelEvent::aer_corrected, "AER: Corrected error"},
    {KernelEvent::aer_corrected, "AER: Multiple Corrected error"},
    {KernelEvent::aer_corrected, "AER: Correctable error"},
    {KernelEvent::aer_uncorrected, "AER: Uncorrected"},
    {KernelEvent::aer_uncorrected, "AER: Multiple Uncorrected"},
    {KernelEvent::aer_uncorrected, "AER: Uncorrectable"},
    {KernelEvent::peer_memory, "nvidia_peermem",
     "disagrees|Unknown symbol|could not insert|failed|Invalid argument|rror"},
    {KernelEvent::peer_memory, "nvidia-peermem",
     "disagrees|Unknown symbol|could not insert|failed|Invalid argument|rror"},
    {KernelEvent::peer_memory, "nv_peer_mem",
     "disagrees|Unknown symbol|could not insert|failed|Invalid argument|rror"},
    {KernelEvent::symbol_mismatch, "disagrees about version of symbol"},
    {KernelEvent::symbol_mismatch, "Unknown symbol"},
    {KernelEvent::symbol_mismatch, "version magic '"},
    {KernelEvent::symbol_mismatch, "exports duplicate symbol"},
    {KernelEvent::gid_refused, "GID add failed"},
    {KernelEvent::gid_refused, "SET_ROCE_ADDRESS", "failed|status|timeout"},
    {KernelEvent::gid_refused, "gid",
     "unable to add|can't delete|can't add|failed to add|Failed to add|add failed"},
    {KernelEvent::gid_refused, "GID",
     "unable to add|can't delete|can't add|failed to add|Failed to add|failed to set"},
    {KernelEvent::address_handle, "Failed to allocate HW AH"},
    // Opcodes of bnxt's queue: CREATE_AH, ADD_GID, DELETE_GID (bnxt_re/roce_hsi.h).
    {KernelEvent::address_handle, "]=0x15 status 0x", "bnxt"},
    {KernelEvent::gid_refused, "]=0x17 status 0x", "bnxt"},
    {KernelEvent::gid_refused, "]=0x18 status 0x", "bnxt"},
    {KernelEvent::address_handle, "create_ah", "failed|Failed|error"},
    {KernelEvent::address_handle, "Create AH", "failed|Failed|error|Failure"},
    {KernelEvent::traffic_classes, "Too many traffic classes requested"},
    {KernelEvent::connect_failed, "rdma_connect failed"},
    {KernelEvent::connect_failed, "rdma connection establishment failed"},
    {KernelEvent::error_completion, "dump error cqe"},
    {KernelEvent::module_trouble, "Port module event",
     "nplugged|rror|emperature|unknown|ower budget|disabled"},
    {KernelEvent::module_trouble, "High Temperature"},
    {KernelEvent::module_trouble, "High temperature warning"},
    {KernelEvent::module_trouble, "temperature", "mlx5_core|bnxt_en"},
    {KernelEvent::firmware_trouble, "device's health compromised"},
    {KernelEvent::firmware_trouble, "Health issue observed"},
    {KernelEvent::firmware_trouble, "print_health_info", "assert_var|synd|severity"},
    {KernelEvent::firmware_trouble, "poll_health", "atal|compromised|miss"},
    {KernelEvent::firmware_trouble, "mlx5_core",
     "Fatal error|fatal error|timeout. Will cause a leak|enter_error_state|firmware fatal"},
    {KernelEvent::firmware_trouble, "wait_func", "timeout"},
    {KernelEvent::firmware_trouble, "bnxt_en",
     "irmware not responding|irmware reset|FW reset|irmware is not ready|fatal"},
    {KernelEvent::firmware_trouble, "bnxt_re", "irmware timed out|cmdq|FW hang"},
    {KernelEvent::probe_failed, "mlx5", "failed with error -|init_one:|failed to load"},
    {KernelEvent::probe_failed, "bnxt_re",
     "ailed to register|ailed to allocate|ailed to initialize|failed with error"},
    {KernelEvent::probe_failed, "irdma", "failed with error -|probe failed|Failed to register"},
    {KernelEvent::probe_failed, "qedr", "failed with error -|Failed to register|probe failed"},
    {KernelEvent::probe_failed, "ib_uverbs", "failed with error|failed to load"},
    {KernelEvent::link_down, "Link down"},
    {KernelEvent::link_down, "Link is Down"},
    {KernelEvent::link_down, "Link is down"},
    {KernelEvent::link_down, "link down", "mlx|bnxt|ice |i40e|qed|ionic|eth|infiniband"},
    {KernelEvent::link_down, "Link Down"},
    {KernelEvent::link_up, "Link up"},
    {KernelEvent::link_up, "Link is Up"},
    {KernelEvent::link_up, "Link is up"},
    {KernelEvent::link_up, "link up", "mlx|bnxt|ice |i40e|qed|ionic|eth|infiniband"},
    {KernelEvent::link_up, "Link Up"},
    {KernelEvent::link_up, "link becomes ready"},
    {KernelEvent::hypervisor, "Hypervisor detected:"},
    {KernelEvent::hypervisor, "Booting paravirtualized kernel on", "KVM|VMware|Hyper-V|Xen"},
    {KernelEvent::iommu_mode, "iommu: Default domain type:"},
};

// Of the rows' `first`, by their place in the table.
const TextIndex& first_words() {
  static const TextIndex kIndex = [] {
    TextIndex out;
    for (std::size_t i = 0; i < std::size(kPhrases); ++i) out.add(kPhrases[i].first, i);
    return out;
  }();
  return kIndex;
}

// "0001:43:00.0" or "0a:00.0" at a place of a text.
std::size_t pci_address_at(std::string_view text) {
  const auto fits = [&](std::string_view pattern) {  // h: hex digit
    if (text.size() < pattern.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == 'h' ? !is_hex_digit(text[i]) : text[i] != pattern[i]) return false;
    }
    return true;
  };
  if (fits("hhhh:hh:hh.h")) return 12;
  return fits("hh:hh.h") ? 7 : 0;
}

std::string_view first_pci_address(std::string_view text) {
  for (std::size_t at = 0; at + 7 <= text.size(); ++at) {
    if (at > 0 && (is_hex_digit(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '.')) continue;
    const std::size_t length = pci_address_at(text.substr(at));
    if (length > 0) return text.substr(at, length);
  }
  return {};
}

// The word before a place: "mlx5_core 0000:43:00.0 eth3: Link down" -> "eth3".
std::string_view word_before(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == ':')) --at;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] != ' ') --begin;
  return text.substr(begin, at - begin);
}

std::string_view netdev_of_link_line(std::string_view text) {
  for (const std::string_view mark : {"NIC Link", "NIC link", "Link is", "Link ", "link "}) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view word = word_before(text, at);
    if (!word.empty()) return word;
  }
  return {};
}

}  // namespace

std::optional<KernelEvent> kernel_event_of(std::string_view text) {
  std::bitset<std::size(kPhrases)> held;
  first_words().find(text, held);
  if (held.none()) return std::nullopt;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) continue;
    const Phrase& phrase = kPhrases[i];
    if (phrase.second.empty()) return phrase.kind;
    std::string_view words = phrase.second;
    while (!words.empty()) {
      const auto [word, rest] = split_at(words, '|');
      if (contains(text, word)) return phrase.kind;
      words = rest;
    }
  }
  return std::nullopt;
}

std::string_view kernel_device_of(std::string_view text, KernelEvent kind) {
  if (kind == KernelEvent::link_down || kind == KernelEvent::link_up) {
    if (const std::string_view netdev = netdev_of_link_line(text);
        !netdev.empty() && pci_address_at(netdev) == 0)
      return netdev;
  }
  if (const std::string_view address = first_pci_address(text); !address.empty()) return address;
  // "infiniband mlx5_2: add_roce_gid GID add failed ..."
  constexpr std::string_view kRdma = "infiniband ";
  const auto at = text.find(kRdma);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + kRdma.size());
  const auto end = rest.find(':');
  return end > 63 ? std::string_view() : rest.substr(0, end);
}

}  // namespace rocetune::evidence
