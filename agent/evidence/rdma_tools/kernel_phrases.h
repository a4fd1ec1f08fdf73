// How kernel log lines are told apart: by what stands in them.
#pragma once

#include <optional>
#include <string_view>

#include "agent/evidence/rdma_tools/kernel_log.h"

namespace rocetune::evidence {

// Of a line without its time stamp; nothing for lines that say nothing about NICs, PCIe or the IOMMU.
std::optional<KernelEvent> kernel_event_of(std::string_view text);

// What a line is about: the PCI address, RDMA device or netdev in it; empty if none is named.
std::string_view kernel_device_of(std::string_view text, KernelEvent kind);

}  // namespace rocetune::evidence
