#include "agent/evidence/rdma_tools/formats.h"

#include <array>

#include "agent/evidence/rdma_tools/fec_histogram.h"
#include "agent/evidence/rdma_tools/iblinkinfo.h"
#include "agent/evidence/rdma_tools/ibstat.h"
#include "agent/evidence/rdma_tools/ibstatus.h"
#include "agent/evidence/rdma_tools/ibv_devinfo.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/lspci.h"
#include "agent/evidence/rdma_tools/mlxconfig.h"
#include "agent/evidence/rdma_tools/mlxfwmanager.h"
#include "agent/evidence/rdma_tools/mlxlink.h"
#include "agent/evidence/rdma_tools/nvidia_smi_topo.h"
#include "agent/evidence/rdma_tools/show_gids.h"
#include "agent/evidence/rdma_tools/topology_xml.h"

namespace rocetune::evidence {

std::span<const Format> rdma_tool_formats() {
  static const std::array<Format, 13> kFormats{
      show_gids_format(),    ibstat_format(),       ibstatus_format(),      ibv_devinfo_format(),
      iblinkinfo_format(),   topology_xml_format(), lspci_format(),         mlxlink_format(),
      mlxfwmanager_format(), mlxconfig_format(),    fec_histogram_format(), nvidia_smi_topo_format(),
      kernel_log_format(),
  };
  return kFormats;
}

}  // namespace rocetune::evidence
