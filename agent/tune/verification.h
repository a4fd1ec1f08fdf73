// Comparing a host with what it should show. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/tune/record.h"

namespace rocetune::tune {

struct Wanted {
  host::Knob knob;
  host::KnobValue value;
};
struct Difference {
  host::Knob knob;
  host::KnobValue wanted;
  Observed<host::KnobValue> found;
};
// "eth0 mtu: wanted 9000 B, found 1500 B".
std::string to_text(const Difference& difference);

std::vector<Difference> differences(const host::Host& host, const std::vector<Wanted>& wanted);
// What the first `count` steps leave; of several changes of one knob the last.
std::vector<Wanted> values_after(const Plan& plan, std::size_t count);
// What the plan starts from; of several changes of one knob the first. Hidden knobs are left out.
std::vector<Wanted> values_before(const Plan& plan);

Reading reading_of(const host::Host& host, const host::Knob& knob);
std::vector<PortBaseline> baseline_of(const host::Host& host, const std::vector<std::string>& ports);

// The port is in the active aggregate of an 802.3ad bond. In the other modes a member with a carrier is all
// that a bond wants: an active-backup bond without `primary` does not go back to the member that was active.
bool is_in_aggregate(const host::Host& host, const std::string& port);
// Carrier and membership in the bond's aggregate are as they were. Error: conflict, saying which is not.
Expected<> port_is_back(const host::Host& host, const PortBaseline& baseline);

}  // namespace rocetune::tune
