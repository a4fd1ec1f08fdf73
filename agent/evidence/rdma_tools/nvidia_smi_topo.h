// nvidia-smi topo -m: how GPUs and NICs meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct TopologyMatrix {
  std::vector<std::string> columns;                               // "GPU0", "NIC0", "mlx5_0"
  std::map<std::string, std::map<std::string, std::string>> how;  // row -> column -> "PIX", "SYS", "NV18"
  std::map<std::string, int> lines;                               // of rows
  std::map<std::string, std::string> numa_of;                     // row -> "NUMA Affinity" as printed
  std::map<std::string, std::string> names;                       // "NIC0" -> "mlx5_0" by the legend

  // "mlx5_0" of NIC0 where the legend says so, else the label.
  const std::string& name_of(const std::string& label) const;
};

// How near a word of the matrix is: 0 PIX ... 4 SYS; nothing for NVLink, "X" and what is no such word.
std::optional<int> distance_of(std::string_view word);
bool is_gpu_label(std::string_view label);
bool is_nic_label(std::string_view label);

Format nvidia_smi_topo_format();

}  // namespace rocetune::evidence
