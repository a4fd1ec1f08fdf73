// What a network may do to one frame in place.
#pragma once

#include "dataplane/base/random.h"
#include "dataplane/wire/bytes.h"

namespace rocetune::port {

// Marks an ECN-capable IPv4 or IPv6 packet CE, as a congested switch does, the IPv4 checksum included. False:
// it is none, or says not-ECT, or is marked already.
bool mark_ce(wire::MutableBytes frame);

// Flips one bit behind the Ethernet header. False: there is nothing behind it.
bool flip_random_bit(wire::MutableBytes frame, Random& random);

}  // namespace rocetune::port
