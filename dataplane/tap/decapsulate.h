// From a captured frame to the frame a RoCE host sent: link headers of a capture, mirror sessions and tunnels
// off.
#pragma once

#include <optional>

#include "dataplane/tap/capture_reader.h"
#include "dataplane/wire/ethernet.h"

namespace rocetune::tap {

// What a mirror or tunnel put around it.
enum Wrapping : std::uint8_t {
  kWrapVxlan = 1 << 0,
  kWrapGre = 1 << 1,      // plain GRE or Ethernet over GRE
  kWrapErspan1 = 1 << 2,  // type I: no ERSPAN header
  kWrapErspan2 = 1 << 3,
  kWrapErspan3 = 1 << 4,
};

struct InnerFrame {
  std::optional<wire::EthernetHeader> ethernet;  // the innermost; none in captures without one
  std::uint16_t type = 0;                        // EtherType of `payload`
  wire::ConstBytes payload;                      // behind Ethernet and tags
  std::uint8_t wrapping = 0;                     // Wrapping bits met on the way
};

// False if the frame is too short for its link header. Takes off at most four wrappings; a wrapping that
// cannot be read is left on, and its outer packet is the answer. Fills in place: this is done for every
// frame.
bool decapsulate(LinkType link, wire::ConstBytes frame, InnerFrame& out);

}  // namespace rocetune::tap
