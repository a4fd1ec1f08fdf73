// Tools about RDMA devices, PCIe, kernel and GPUs: ibv_devinfo, show_gids, lspci, dmesg, nvidia-smi, mlxlink.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> rdma_tool_formats();

}  // namespace rocetune::evidence
