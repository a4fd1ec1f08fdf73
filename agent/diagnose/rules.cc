#include <vector>

#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {

std::span<const Rule* const> all_rules() {
  static const std::vector<const Rule*> kRules = [] {
    std::vector<const Rule*> out;
    for (const auto family : {ownership_rules(),
                              shown_device_rules(),
                              gpu_path_rules(),
                              link_rules(),
                              shown_link_rules(),
                              pcie_rules(),
                              shown_pcie_rules(),
                              shown_host_rules(),
                              gid_rules(),
                              shown_gid_rules(),
                              gids_in_texts_rules(),
                              shown_address_rules(),
                              mtu_rules(),
                              both_ends_rules(),
                              transport_errors_rules(),
                              library_devices_rules(),
                              library_settings_rules(),
                              class_map_rules(),
                              cnp_class_rules(),
                              tos_bytes_rules(),
                              library_class_rules(),
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
                              told_link_rules(),
                              told_class_rules(),
                              told_loss_rules(),
                              told_receiver_rules(),
                              told_pause_rules(),
                              told_ecn_rules(),
                              measured_paths_rules(),
                              measured_loss_rules(),
                              collective_results_rules(),
                              compared_results_rules(),
                              congestion_choice_rules(),
                              drift_rules(),
                              persistence_rules(),
                              shown_firmware_rules()}) {
      for (const Rule& rule : family) out.push_back(&rule);
    }
    return out;
  }();
  return kRules;
}

}  // namespace rocetune::diagnose
