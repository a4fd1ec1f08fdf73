#include "agent/evidence/host_tools/formats.h"

#include <array>

#include "agent/evidence/host_tools/bonding.h"
#include "agent/evidence/host_tools/dcb.h"
#include "agent/evidence/host_tools/ethtool_driver.h"
#include "agent/evidence/host_tools/ethtool_features.h"
#include "agent/evidence/host_tools/ethtool_fec.h"
#include "agent/evidence/host_tools/ethtool_link.h"
#include "agent/evidence/host_tools/ethtool_pause.h"
#include "agent/evidence/host_tools/ethtool_stats.h"
#include "agent/evidence/host_tools/ethtool_tunable.h"
#include "agent/evidence/host_tools/hw_counters.h"
#include "agent/evidence/host_tools/ip_link.h"
#include "agent/evidence/host_tools/lsmod.h"
#include "agent/evidence/host_tools/meminfo.h"
#include "agent/evidence/host_tools/mlnx_qos.h"
#include "agent/evidence/host_tools/qp_attributes.h"
#include "agent/evidence/host_tools/rdma_link.h"
#include "agent/evidence/host_tools/rdma_statistic.h"
#include "agent/evidence/host_tools/sysfs_value.h"
#include "agent/evidence/host_tools/tc_qdisc.h"

namespace rocetune::evidence {

std::span<const Format> host_tool_formats() {
  // Titles first, then names that are known, then shapes.
  static const std::array kFormats{ethtool_pause_format(),
                                   ethtool_features_format(),
                                   ethtool_link_format(),
                                   ethtool_fec_format(),
                                   ethtool_driver_format(),
                                   ethtool_tunable_format(),
                                   mlnx_qos_format(),
                                   dcb_format(),
                                   bonding_format(),
                                   ip_link_format(),
                                   rdma_link_format(),
                                   rdma_statistic_format(),
                                   tc_qdisc_format(),
                                   meminfo_format(),
                                   lsmod_format(),
                                   qp_attributes_format(),
                                   hw_counters_format(),
                                   sysfs_value_format(),
                                   ethtool_stats_format()};
  return kFormats;
}

}  // namespace rocetune::evidence
