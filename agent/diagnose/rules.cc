#include <vector>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {

std::span<const Rule* const> all_rules() {
  static const std::vector<const Rule*> kRules = [] {
    std::vector<const Rule*> out;
    for (const auto family : {ownership_rules(),
                              link_rules(),
                              pcie_rules(),
                              gid_rules(),
                              mtu_rules(),
                              class_map_rules(),
                              cnp_class_rules(),
                              tos_bytes_rules(),
                              flow_control_rules(),
                              buffers_rules(),
                              ecn_rules(),
                              traffic_rules(),
                              captured_class_rules(),
                              captured_traffic_rules(),
                              switch_class_rules(),
                              switch_pause_rules(),
                              switch_buffer_rules(),
                              switch_source_rules(),
                              drift_rules(),
                              persistence_rules()}) {
      for (const Rule& rule : family) out.push_back(&rule);
    }
    return out;
  }();
  return kRules;
}

}  // namespace rocetune::diagnose
