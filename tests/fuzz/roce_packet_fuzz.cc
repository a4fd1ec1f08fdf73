// Any frame: Ethernet with tags, then RoCE, MAC control or LLDP. Looks at everything a reader would look at.
#include <cstdlib>

#include "dataplane/wire/lldp.h"
#include "dataplane/wire/mac_control.h"
#include "dataplane/wire/roce_packet.h"

using namespace rocetune::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ConstBytes frame = std::as_bytes(std::span(data, size));
  const auto ethernet = EthernetHeader::parse(frame);
  if (!ethernet) return 0;
  const ConstBytes rest = frame.subspan(ethernet->size());
  if (const auto packet = RocePacket::parse(ethernet->type, rest)) {
    if (packet->bytes.size() > rest.size() || packet->payload > packet->wire_size) std::abort();
    (void)packet->aeth();
    (void)packet->reth();
    (void)packet->immediate();
    (void)packet->atomic();
    (void)packet->atomic_ack();
    (void)packet->invalidate();
    (void)packet->deth();
    (void)packet->xrceth();
    // The ICRC is sound whatever it says: computing it twice gives the same.
    if (packet->icrc_state() != packet->icrc_state()) std::abort();
  }
  (void)parse_mac_control(rest);
  if (const auto lldp = parse_lldp(rest)) {
    std::array<std::byte, 2048> out;
    (void)emit_lldp(*lldp, out);
  }
  return 0;
}
