// What cables, rates and buffers of a fabric ask of its thresholds.
#pragma once

#include <string>

#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

// The link between two nodes that asks for most, and how much.
struct HeadroomNeed {
  std::string link;  // "switch 0 to host 3"
  Bytes needed;      // per lossless class, at the switch
  Bytes given;
};
// Of the link whose switch has the least to spare: what may still arrive after Xoff with the present MTU and
// reaction times (fabric::DerivedHeadroom, IEEE 802.1Q annex N) against what a port has for it. Nothing is
// needed (0) where no class is lossless.
HeadroomNeed headroom_need(const fabric::Scenario& scenario);
// What DerivedHeadroom reckons with: the longest frame of the largest path MTU, the slowest reaction.
fabric::DerivedHeadroom headroom_model(const fabric::Scenario& scenario);

// What of a switch's buffer is shared: the least of all switches, 0 if none is left.
Bytes shared_pool(const fabric::Scenario& scenario);
// How long the queue of one lossless ingress can get before it asks for silence while all others are empty:
// the reserve and alpha / (1 + alpha) of the shared pool (Choudhury and Hahne 1998). Several that fill one
// egress reach Xoff only at a longer queue there, so marking that begins below this begins before any pause.
Bytes lone_xoff(const fabric::Scenario& scenario);

// The fastest rate of a host's link.
BitRate host_rate(const fabric::Scenario& scenario);

inline double gbps_of(BitRate rate) { return static_cast<double>(rate.bits_per_second()) / 1e9; }

}  // namespace rocetune::fabric_plant
