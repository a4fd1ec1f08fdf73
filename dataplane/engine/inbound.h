// A received frame, checked as far as that is possible without knowing its queue pair.
#pragma once

#include <tl/expected.hpp>

#include "dataplane/engine/drop_reason.h"
#include "dataplane/engine/frame.h"
#include "dataplane/wire/roce_packet.h"

namespace rocetune::engine {

struct Inbound {
  wire::RocePacket packet;
  const std::byte* payload = nullptr;         // packet.payload bytes, unless
  const SyntheticContent* content = nullptr;  // the payload is synthetic
  // The headers were all there when it was made.
  template <class Header>
  Header header(std::size_t behind_bth) const {
    return Header::parse(
        wire::fixed<Header::kSize>(packet.bytes, packet.transport + wire::Bth::kSize + behind_bth));
  }
};

// Fills `in`, or says why not: the length, version and ICRC checks of the specification's sections 9.6.1
// (packet header validation) and 9.7.4.
tl::expected<void, DropReason> validate(const ReceivedFrame& frame, bool verify_icrc, Inbound& in);

}  // namespace rocetune::engine
