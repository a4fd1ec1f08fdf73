// What rules about switches start from: the switches among the texts, and what the hosts, captures and
// environments beside them say of the class that the switches have to carry.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/facts.h"
#include "agent/evidence/switches/switch_evidence.h"

namespace rocetune::diagnose {

// One text of a switch.
struct SwitchText {
  const evidence::Document* document;
  const evidence::SwitchEvidence* evidence;
  const evidence::SwitchModel& model() const { return evidence->model; }
  // "leaf1", "SONiC in show-pfc.txt": for subjects.
  std::string name() const;
};
std::vector<SwitchText> switch_texts(const DossierFacts& facts);

// Which settings of a port a rule looks at: what differs in the others is judged once.
enum class SwitchAspect {
  classes,     // trust, DSCP map, PFC
  queues,      // PFC, queues, ECN, buffers
  everything,  // also MTU, speed, cable, watchdog
};

// Ports with the same settings, judged once.
struct SwitchPorts {
  std::vector<std::string> ports;  // one empty name: settings that hold for all
  evidence::SwitchSettings settings;
  // "Ethernet0, Ethernet4 and 30 more"; empty for settings that hold for all.
  std::string text() const;
};
std::vector<SwitchPorts> alike_ports(const evidence::SwitchModel& model, SwitchAspect aspect);

// "leaf1 Ethernet0 and 3 more": the subject of a finding about these ports.
std::string subject_of(const SwitchText& text, const SwitchPorts& ports);

// Something that sends RoCE with a DSCP, by its own settings, environment or packets.
struct MarkedTraffic {
  Dscp dscp;
  std::optional<Priority> priority;  // lossless on the host
  std::string who;                   // "node1 eth0", "nccl.conf", "node1 eth0 and 3 more"
  Evidence evidence;
};
// Each DSCP (with its priority) once, with all its senders. A class that is only guessed is none.
std::vector<MarkedTraffic> marked_traffic(const DossierFacts& facts);

// Ports of hosts whose PFC is known to be on: their priorities.
struct HostLossless {
  std::string who;
  PrioritySet pfc;
};
std::vector<HostLossless> host_lossless(const DossierFacts& facts);

// The priority of a DSCP: as mapped, else by the maker's default; nothing if the map is not known.
std::optional<Priority> switch_priority(evidence::SwitchSystem system,
                                        const evidence::SwitchSettings& settings, Dscp dscp);

// Judges every group of ports of every switch: `judge` adds findings, or evidence of what is fine. Not
// checked, for `reason`, if it did neither.
using JudgeSwitchPorts =
    std::function<void(const SwitchText&, const SwitchPorts&, std::vector<Finding>&, std::vector<Evidence>&)>;
Outcome judge_switches(const DossierFacts& facts, SwitchAspect aspect, const std::string& reason,
                       const JudgeSwitchPorts& judge);

// Evidence of a setting, at the line where the text sets it.
template <class Value>
Evidence switch_setting(const SwitchText& text, const SwitchPorts& ports, std::string_view what,
                        std::string name, const Value& value, std::string unit = "") {
  return shown(std::move(name), value, std::move(unit), *text.document,
               text.model().line_of(what, ports.ports.front()));
}

}  // namespace rocetune::diagnose
