#include "dataplane/engine/inbound.h"

namespace rocetune::engine {
namespace {

DropReason reason_of(wire::Malformed why) {
  switch (why) {
    case wire::Malformed::truncated:
      return DropReason::truncated;
    case wire::Malformed::bad_version:
      return DropReason::bad_version;
    case wire::Malformed::bad_length:
      return DropReason::bad_length;
    case wire::Malformed::fragment:
      return DropReason::fragment;
    case wire::Malformed::not_roce:
      break;
  }
  return DropReason::not_roce;
}

}  // namespace

tl::expected<Inbound, DropReason> validate(const ReceivedFrame& frame, bool verify_icrc) {
  const auto ethernet = wire::EthernetHeader::parse(frame.bytes);
  if (!ethernet) return tl::unexpected(reason_of(ethernet.error()));
  // RoCE v1 goes to nobody here: it is not routed, and no peer of ours speaks it.
  if (ethernet->type == wire::ether_type::kRoceV1) return tl::unexpected(DropReason::not_roce);
  const auto packet = wire::RocePacket::parse(ethernet->type, frame.bytes.subspan(ethernet->size()));
  if (!packet) return tl::unexpected(reason_of(packet.error()));
  if (!packet->opcode->is_valid()) return tl::unexpected(DropReason::unknown_opcode);
  if (packet->bth.version != 0) return tl::unexpected(DropReason::bad_version);
  Inbound in{.packet = *packet, .content = frame.content};
  const std::size_t headers = packet->transport + wire::Bth::kSize + packet->opcode->extended_size;
  if (frame.content != nullptr) {
    if (packet->bytes.size() < headers) return tl::unexpected(DropReason::truncated);
    if (frame.content->length != packet->payload) return tl::unexpected(DropReason::bad_length);
    return in;
  }
  if (packet->is_cut()) return tl::unexpected(DropReason::truncated);
  if (verify_icrc && packet->icrc_state() != wire::IcrcState::ok) return tl::unexpected(DropReason::bad_icrc);
  in.payload = packet->bytes.data() + headers;
  return in;
}

}  // namespace rocetune::engine
