// Receiving on queue pairs without acknowledgements: unreliable connections and datagrams. Source: InfiniBand
// architecture specification, volume 1, section 9.8; annex A17.4.5.2 (network header in front of a datagram).
#pragma once

#include "dataplane/engine/endpoint_state.h"

namespace rocetune::engine {

// UC: SEND and WRITE. A message of which a packet is missing is dropped whole; its receive request serves the
// next one.
void receive_unreliable(EndpointState& state, std::uint32_t row, const Inbound& in);
// UD: SEND Only behind the 40 bytes that hold the sender's network header (IPv4: in the last 20).
void receive_datagram(EndpointState& state, std::uint32_t row, const Inbound& in);

}  // namespace rocetune::engine
