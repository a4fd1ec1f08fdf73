// Writes the headers of outgoing frames from a queue pair's template, and starts their ICRC.
#pragma once

#include "dataplane/engine/endpoint_state.h"

namespace rocetune::engine {

// Everything of a frame but its extended headers, which the caller has written behind extended_of().
struct FrameDraft {
  std::uint8_t opcode = 0;
  wire::Psn psn;
  bool ack_request = false;
  bool solicited = false;
  std::size_t extended = 0;  // bytes of extended headers
  PayloadReference payload;
};

// Where the extended headers of a frame on this path stand.
inline wire::MutableBytes extended_of(TransmitFrame& frame, const wire::PathHeaders& headers) {
  return wire::MutableBytes(frame.header).subspan(headers.size() + wire::Bth::kSize);
}
// Path headers, BTH, lengths, ticket, and the ICRC as far as the header goes.
void finish_frame(EndpointState& state, std::uint32_t row, const FrameDraft& draft, TransmitFrame& frame);
// Makes a finished frame ask for an acknowledgement.
void ask_acknowledge(EndpointState& state, std::uint32_t row, TransmitFrame& frame);
// A congestion notification packet to the peer, in its own class.
void build_cnp(EndpointState& state, std::uint32_t row, TransmitFrame& frame);

}  // namespace rocetune::engine
