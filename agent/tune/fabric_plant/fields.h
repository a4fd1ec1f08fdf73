// The settings that a single host or switch of a fabric may have otherwise than the others, and who does. A
// remedy repairs the one that is wrong, so each of them is a thing of its own here.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/tune/search/knob.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

// One setting of a host or a switch (`Part`: fabric::HostParameters, fabric::SwitchParameters).
template <class Part>
struct Field {
  std::string name;     // the key of the scenario: "mtu", "priority_of_dscp", "rp_ai_rate"
  std::string meaning;  // one sentence
  search::ChangeCost cost = search::ChangeCost::none;
  std::function<std::string(const Part&)> text;  // equal texts: equal settings
  std::function<void(Part& to, const Part& from)> copy;
  // The text for people who see it beside that of another part; empty: text says it.
  std::function<std::string(const Part&, const Part& beside)> text_beside;
};
using HostField = Field<fabric::HostParameters>;
using SwitchField = Field<fabric::SwitchParameters>;

// All of them, but for how fast a host receives: that is hardware.
const std::vector<HostField>& host_fields();
const std::vector<SwitchField>& switch_fields();
const HostField& host_field(std::string_view name);

// "26=3, 48=6": where DSCPs lead that do not lead to priority 0, and where `named` do.
std::string map_text(const fabric::DscpMap& map, const std::vector<Dscp>& named = {});

// "strict", or "3=70%, 4=25%": of each traffic class that is not strict its share; then the priorities that
// belong to another class than that of their number.
std::string ets_text(const EtsConfig& ets, const ClassOfPriority& class_of = a_class_each());

// The same fabric, in which every end host and every switch has parameters of its own to be written to.
fabric::Scenario with_own_parts(fabric::Scenario scenario);

// What the traffic of the hosts is called, and how many hosts call it so. `scenario` is with_own_parts.
struct DscpsInUse {
  std::map<Dscp, std::uint32_t> data, cnps, acks;  // acks: only where they are in a class of their own
};
DscpsInUse dscps_in_use(const fabric::Scenario& scenario);
// Into which priorities a switch puts the data, that of most hosts first; and these and that of CNPs.
std::vector<Priority> data_priorities(const DscpsInUse& dscps, const fabric::SwitchParameters& at);
PrioritySet used_priorities(const DscpsInUse& dscps, const fabric::SwitchParameters& at);

// Some hosts, or some switches, that have a setting in common that most others have otherwise.
struct Deviation {
  std::size_t field = 0;               // of host_fields(), or switch_fields()
  std::vector<std::uint32_t> members;  // by number among end hosts, or switches, in order
  std::string as_found;                // Field::text of them
  std::uint32_t usual = 0;             // one that has it as most do: the first of those
  bool contains(std::uint32_t member) const;
};
// `scenario` is with_own_parts. Of values that are equally frequent the usual one is that of the first
// member.
std::vector<Deviation> host_deviations(const fabric::Scenario& scenario);
std::vector<Deviation> switch_deviations(const fabric::Scenario& scenario);

// "h0-h3,h7"; "switch2".
std::string hosts_text(const std::vector<std::uint32_t>& members);
std::string switches_text(const std::vector<std::uint32_t>& members);

}  // namespace rocetune::fabric_plant
