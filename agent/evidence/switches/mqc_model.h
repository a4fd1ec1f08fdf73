// The objects of EOS and NX-OS configurations as they are written, and what follows from them for ports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {

// What a `class-map` matches.
struct MqcClassMap {
  std::vector<Dscp> dscps;
  std::vector<int> pcps;
  std::optional<int> group;  // "match qos-group 3"
};

// A class of a `policy-map`, with what is done to it.
struct MqcClass {
  std::string name;
  std::optional<int>
      group;             // "set qos-group 3", "set traffic-class 3"; of queues and system classes their own
  bool no_drop = false;  // "pause ..."
  std::optional<PrioritySet> pfc;  // "pause pfc-cos 3"
  SwitchQueue queue;
};

enum class MqcKind { qos, network_qos, queuing };
struct MqcPolicy {
  MqcKind kind = MqcKind::qos;
  std::vector<MqcClass> classes;
};

// An `interface` (one for all ports of its line) or an EOS `qos profile`.
struct MqcBlock {
  SwitchSettings settings;
  bool has_pfc = false;               // some priority-flow-control statement stands here
  std::optional<bool> pfc_on;         // EOS "priority-flow-control on"
  std::optional<std::string> mode;    // NX-OS "priority-flow-control mode on|off|auto"
  PrioritySet no_drop;                // "priority-flow-control priority 3 no-drop"
  std::vector<std::string> profiles;  // EOS
  std::vector<std::string> policies;  // of type qos and queuing
  std::map<std::string, int> lines;   // "pfc", "mtu", "trust"
};

struct MqcConfig {
  std::string name;
  bool is_nxos = false, is_eos = false;  // words that only one of them has
  std::map<std::string, MqcClassMap> class_maps;
  std::map<std::string, MqcPolicy> policies;
  std::map<std::string, MqcBlock> profiles, ports;
  MqcBlock common;  // outside of interfaces
  std::vector<std::string> system_policies;
  std::map<Dscp, Priority> dscp_map;           // EOS "qos map dscp 26 to traffic-class 3"
  std::map<Priority, TrafficClass> queue_map;  // EOS "qos map traffic-class 3 to tx-queue 3"
  std::map<std::string, int> lines;            // "dscp 26", "queue 3", "pfc"

  SwitchModel model() const;
};

}  // namespace rocetune::evidence
