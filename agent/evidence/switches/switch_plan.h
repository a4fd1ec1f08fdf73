// A class map for a switch, and the lines that set it in each maker's words. What the readers of this folder
// make of those lines is the same class map: see model_of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {

struct PlannedClass {
  std::string name;         // "roce": letters, digits and dashes
  std::vector<Dscp> dscps;  // under trust dscp; PCP is the priority under trust pcp
  Priority priority;
  TrafficClass queue;
  bool lossless = false;
  bool strict = false;
  int share_percent = 0;
  std::optional<bool> marks = std::nullopt;  // with ECN; unless said, if it is lossless
};

struct SwitchPlan {
  SwitchTrust trust = SwitchTrust::dscp;  // dscp or pcp
  std::vector<PlannedClass> classes;
  TrafficClass default_queue;  // of everything else
  int default_share_percent = 0;
  // Marking in the queues of classes that mark; nothing: left as it is.
  std::optional<Bytes> mark_from, mark_all;
  int mark_percent = 100;               // at mark_all, 1..100
  std::optional<Bytes> mtu;             // of the ports; nothing: left as it is
  std::optional<Duration> storm_after;  // detection time of the watchdog; nothing: left as it is
  std::vector<std::string> ports;       // names as the maker writes them

  PrioritySet lossless() const;
  bool marks(const PlannedClass& planned) const {
    return mark_from && mark_all && planned.marks.value_or(planned.lossless);
  }
};

struct SwitchLines {
  std::string text;                // to be loaded or pasted
  std::vector<std::string> notes;  // how, and what else the switch needs
};

// Systems that lines can be made for.
enum class SwitchWriter { sonic, nvue, eos, nxos, junos };
SwitchSystem system_of(SwitchWriter writer);

// `plan.ports` may be empty for nvue only, whose default profiles are of all ports.
SwitchLines lines_of(const SwitchPlan& plan, SwitchWriter writer);
// What a switch with these lines does: what reading them back must give, port by port.
SwitchModel model_of(const SwitchPlan& plan, SwitchWriter writer);

// One maker each; use lines_of.
SwitchLines sonic_lines(const SwitchPlan& plan);
SwitchLines nvue_lines(const SwitchPlan& plan);
SwitchLines eos_lines(const SwitchPlan& plan);
SwitchLines nxos_lines(const SwitchPlan& plan);
SwitchLines junos_lines(const SwitchPlan& plan);

// "ROCE-SECOND": a class's name as configurations have names.
std::string object_name(const PlannedClass& planned);

}  // namespace rocetune::evidence

namespace rocetune {
ROCETUNE_ENUM(evidence::SwitchWriter, P{E::sonic, "sonic"}, P{E::nvue, "nvue"}, P{E::eos, "eos"},
              P{E::nxos, "nxos"}, P{E::junos, "junos"});
}  // namespace rocetune
