// The machine around the NICs: kernel, hypervisor, IOMMU, GPUs, who else may write network settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/kernel_answers.h"
#include "agent/host/model.h"

namespace rocetune::host {

// The systemd unit that applies the last confirmed state at boot.
inline constexpr std::string_view kBootUnit = "rocetune-boot.service";

// Fills everything of Host but ports, bonds and affinity.
void read_platform(const HostFiles& files, const KernelAnswers& kernel, Host& out);

// "" = bare metal; "KVM", "VMware", "Hyper-V" by DMI; "unnamed" by the CPU's hypervisor flag alone.
Observed<std::string> read_hypervisor(const HostFiles& files);
// "off", "passthrough", "translating": from the groups that exist and the type of the default domains.
Observed<std::string> read_iommu(const HostFiles& files);
// Display and processing accelerators by PCI class.
Observed<std::vector<Gpu>> read_gpus(const HostFiles& files);
// Programs and settings that may write DCB state or MTU, each with what shows it.
Observed<std::vector<Owner>> read_owners(const HostFiles& files);
// Whether the boot unit is there and wanted by a target.
Observed<bool> read_boot_unit(const HostFiles& files);

}  // namespace rocetune::host
