#include "agent/evidence/switches/formats.h"

#include "agent/evidence/switches/arista_pfc.h"
#include "agent/evidence/switches/cisco_pfc.h"
#include "agent/evidence/switches/junos_config.h"
#include "agent/evidence/switches/junos_interface.h"
#include "agent/evidence/switches/mqc_config.h"
#include "agent/evidence/switches/nvue_config.h"
#include "agent/evidence/switches/nvue_roce.h"
#include "agent/evidence/switches/onyx_roce.h"
#include "agent/evidence/switches/routeros_config.h"
#include "agent/evidence/switches/sonic_config.h"
#include "agent/evidence/switches/sonic_interface_counters.h"
#include "agent/evidence/switches/sonic_pfc_counters.h"
#include "agent/evidence/switches/sonic_pfcwd.h"
#include "agent/evidence/switches/sonic_qos_show.h"
#include "agent/evidence/switches/sonic_sdk_counters.h"

namespace rocetune::evidence {

std::span<const Format> switch_formats() {
  static const Format kFormats[] = {
      sonic_pfc_counters_format(),   sonic_pfcwd_format(),    sonic_interface_counters_format(),
      sonic_queue_counters_format(), arista_pfc_format(),     cisco_pfc_format(),
      junos_interface_format(),      onyx_roce_format(),      nvue_roce_format(),
      sonic_config_format(),         sonic_qos_show_format(), nvue_config_format(),
      routeros_config_format(),      junos_config_format(),   mqc_config_format(),
      sonic_sdk_counters_format(),
  };
  return kFormats;
}

}  // namespace rocetune::evidence
