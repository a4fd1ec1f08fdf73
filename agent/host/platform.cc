#include "agent/host/platform.h"

#include <algorithm>
#include <array>
#include <map>

namespace rocetune::host {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

// DMI vendor or product words of hypervisors.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kHypervisorWords{{
    {"QEMU", "KVM"},
    {"KVM", "KVM"},
    {"VMware", "VMware"},
    {"VirtualBox", "VirtualBox"},
    {"Virtual Machine", "Hyper-V"},
    {"Xen", "Xen"},
    {"HVM domU", "Xen"},
    {"Amazon EC2", "KVM"},
    {"Google Compute Engine", "KVM"},
    {"OpenStack", "KVM"},
    {"Bochs", "KVM"},
}};

// Programs that write DCB state or link settings, by the name of their process.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOwnerPrograms{{
    {"lldpad", "lldpad"},
    {"dcbd", "dcbd"},
    {"lldpd", "lldpd"},
    {"NetworkManager", "NetworkManager"},
    {"systemd-network", "systemd-networkd"},  // comm is cut to 15 characters
    {"wicked", "wicked"},
    {"mlnx_tune", "mlnx_tune"},
}};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::map<std::string, std::string> processes_by_comm(const HostFiles& files) {
  std::map<std::string, std::string> out;
  const auto names = files.names("/proc");
  if (!names) return out;
  for (const std::string& name : *names) {
    if (!is_number(name)) continue;
    if (const auto comm = files.attribute(fmt::format("/proc/{}/comm", name))) out.emplace(*comm, name);
  }
  return out;
}

bool has_word(std::string_view line, std::string_view word) {
  return fmt::format(" {} ", line).find(fmt::format(" {} ", word)) != std::string::npos;
}

std::optional<std::string> default_domain_type(const HostFiles& files) {
  const auto groups = files.names("/sys/kernel/iommu_groups");
  if (!groups) return std::nullopt;
  std::optional<std::string> out;
  for (const std::string& group : *groups) {
    const auto type = files.attribute(fmt::format("/sys/kernel/iommu_groups/{}/type", group));
    if (!type || *type == "auto") continue;
    // One translating group decides: a NIC may be in it.
    if (type->starts_with("DMA")) return "translating";
    if (*type == "identity") out = "passthrough";
  }
  return out;
}

}  // namespace

Observed<std::string> read_hypervisor(const HostFiles& files) {
  if (const auto type = files.attribute("/sys/hypervisor/type"))
    return *type == "xen" ? std::string("Xen") : *type;
  for (const char* const file : {"sys_vendor", "product_name", "bios_vendor"}) {
    const auto text = files.attribute(fmt::format("/sys/class/dmi/id/{}", file));
    if (!text) continue;
    // Amazon's and Google's bare-metal instances carry the same vendor words: the CPU flag decides below.
    for (const auto& [word, name] : kHypervisorWords) {
      const bool also_bare_metal = word == "Amazon EC2" || word == "Google Compute Engine";
      if (!also_bare_metal && text->find(word) != std::string::npos) return std::string(name);
    }
  }
  const auto cpu = files.text("/proc/cpuinfo");
  if (!cpu) return unavailable(cpu.error());
  const std::size_t flags = cpu->find("\nflags");
  if (flags == std::string::npos)
    return absent("this architecture's /proc/cpuinfo does not show hypervisors");
  const std::string line = cpu->substr(flags + 1, cpu->find('\n', flags + 1) - flags - 1);
  return has_word(line, "hypervisor") ? "unnamed" : "";
}

Observed<std::string> read_iommu(const HostFiles& files) {
  const auto groups = files.names("/sys/kernel/iommu_groups");
  if (!groups && groups.error().kind() != ErrorKind::absent) return unavailable(groups.error());
  if (!groups || groups->empty()) return "off";
  if (const auto type = default_domain_type(files)) return *type;
  const auto line = files.attribute("/proc/cmdline");
  if (line && (has_word(*line, "iommu=pt") || has_word(*line, "iommu.passthrough=1"))) return "passthrough";
  return absent("IOMMU groups exist and their type cannot be read (kernels before 5.11, or no permission)");
}

Observed<std::vector<Gpu>> read_gpus(const HostFiles& files) {
  static const std::map<std::string, std::string> kVendors{
      {"0x10de", "NVIDIA"}, {"0x1002", "AMD"}, {"0x8086", "Intel"}};
  const auto names = files.names(kPciDevices);
  if (!names) return unavailable(names.error());
  std::vector<Gpu> out;
  for (const std::string& address : *names) {
    const std::string path = fmt::format("{}/{}", kPciDevices, address);
    const auto device_class = files.integer(path + "/class");
    const auto vendor = files.attribute(path + "/vendor");
    const auto device = files.attribute(path + "/device");
    if (!device_class || !vendor || !device || device->size() < 3) continue;
    // 0x0302 3D controller, 0x0380 other display, 0x0300 VGA, 0x1200 processing accelerator.
    const std::int64_t kind = *device_class >> 8;
    const auto known = kVendors.find(*vendor);
    const bool is_gpu =
        kind == 0x0302 || kind == 0x0380 || kind == 0x1200 || (kind == 0x0300 && known != kVendors.end());
    // A server's management graphics are VGA devices of other vendors; Intel's VGA is the CPU's own.
    if (!is_gpu || known == kVendors.end() || (kind == 0x0300 && known->second == "Intel")) continue;
    Gpu gpu{.pci_address = address,
            .name = fmt::format("{} {}", known->second, device->substr(2)),
            .numa_node = {}};
    if (const auto node = files.integer(path + "/numa_node"); node && *node >= 0)
      gpu.numa_node = static_cast<int>(*node);
    out.push_back(std::move(gpu));
  }
  return out;
}

Observed<std::vector<Owner>> read_owners(const HostFiles& files) {
  std::vector<Owner> out;
  const auto processes = processes_by_comm(files);
  for (const auto& [comm, name] : kOwnerPrograms) {
    if (const auto found = processes.find(std::string(comm)); found != processes.end()) {
      out.push_back({std::string(name), fmt::format("process {} ({})", found->second, comm)});
    }
  }
  if (const auto plans = files.names("/etc/netplan")) {
    for (const std::string& plan : *plans) {
      if (plan.ends_with(".yaml")) {
        out.push_back({"netplan", fmt::format("/etc/netplan/{}", plan)});
        break;
      }
    }
  }
  std::sort(out.begin(), out.end(), [](const Owner& a, const Owner& b) { return a.name < b.name; });
  return out;
}

Observed<bool> read_boot_unit(const HostFiles& files) {
  const bool systemd = files.exists("/run/systemd/system") || files.exists("/etc/systemd/system");
  if (!systemd) return absent("this host does not use systemd");
  for (const char* const target :
       {"multi-user.target.wants", "network-online.target.wants", "network.target.wants"}) {
    if (files.exists(fmt::format("/etc/systemd/system/{}/{}", target, kBootUnit))) return true;
  }
  return false;
}

void read_platform(const HostFiles& files, const KernelAnswers& kernel, Host& out) {
  out.name = if_known(files.attribute("/proc/sys/kernel/hostname")).value_or("");
  out.kernel = if_known(files.attribute("/proc/sys/kernel/osrelease")).value_or("");
  out.boot_id = if_known(files.attribute("/proc/sys/kernel/random/boot_id")).value_or("");
  out.hypervisor = read_hypervisor(files);
  out.kernel_command_line = observed(files.attribute("/proc/cmdline"));
  out.iommu = read_iommu(files);
  out.rdma_namespaces_exclusive = kernel.rdma_namespaces_exclusive;
  out.gpus = read_gpus(files);
  out.owners = read_owners(files);
  out.boot_unit_installed = read_boot_unit(files);
}

}  // namespace rocetune::host
