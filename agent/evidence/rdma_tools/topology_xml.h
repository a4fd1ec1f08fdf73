// NCCL's topology (NCCL_TOPO_DUMP_FILE) and graph (NCCL_GRAPH_DUMP_FILE) XML, whole or a piece of it: read
// tag by tag, so a piece need not be well formed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

// One <pci>.
struct TopologyPci {
  std::string bus_id;
  std::string pci_class;   // "0x060400"
  std::string id;          // "15b3:101e"
  std::string link_speed;  // as written: "32.0 GT/s PCIe"; "" and "Unknown" happen in guests
  std::optional<int> link_width;
  bool has_link = false;  // a width or speed is written
  int line = 0;

  bool is_bridge() const { return pci_class.starts_with("0x0604"); }
};
// One <net>.
struct TopologyNet {
  std::string name;    // "mlx5_5"; empty in graphs
  std::string bus_id;  // of the <pci> around it
  std::optional<int> dev;
  std::optional<double> speed_mbps;
  std::optional<bool> gdr;
  std::string guid;
  int line = 0;
};
struct TopologyGpu {
  std::string bus_id;
  std::optional<int> dev;
  std::optional<bool> gdr;
  int line = 0;
};
// One <graph>.
struct TopologyGraph {
  int id = 0, pattern = 0, channels = 0;
  double speed_inter_gbps = 0;  // GB/s a channel between nodes
  std::vector<int> nets;        // dev of every <net> in its channels
  int line = 0;
};

struct Topology {
  std::vector<TopologyPci> pcis;
  std::vector<TopologyNet> nets;
  std::vector<TopologyGpu> gpus;
  std::vector<TopologyGraph> graphs;
};

Format topology_xml_format();

}  // namespace rocetune::evidence
