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

tl::expected<void, DropReason> validate(const ReceivedFrame& frame, bool verify_icrc, Inbound& in) {
  const auto ethernet = wire::EthernetPayload::find(frame.bytes);
  if (!ethernet) return tl::unexpected(reason_of(ethernet.error()));
  // RoCE v1 goes to nobody here: it is not routed, and no peer of ours speaks it.
  if (ethernet->type == wire::ether_type::kRoceV1) return tl::unexpected(DropReason::not_roce);
  wire::RocePacket& packet = in.packet;
  const auto parsed =
      wire::RocePacket::parse_into(packet, ethernet->type, frame.bytes.subspan(ethernet->offset));
  if (!parsed) return tl::unexpected(reason_of(parsed.error()));
  if (!packet.opcode->is_valid()) return tl::unexpected(DropReason::unknown_opcode);
  if (packet.bth.version != 0) return tl::unexpected(DropReason::bad_version);
  const std::size_t headers = packet.transport + wire::Bth::kSize + packet.opcode->extended_size;
  in.content = frame.content;
  in.payload = nullptr;
  if (frame.content != nullptr) {
    if (packet.bytes.size() < headers) return tl::unexpected(DropReason::truncated);
    if (frame.content->length != packet.payload) return tl::unexpected(DropReason::bad_length);
    return {};
  }
  if (packet.is_cut()) return tl::unexpected(DropReason::truncated);
  if (verify_icrc && packet.icrc_state() != wire::IcrcState::ok) return tl::unexpected(DropReason::bad_icrc);
  in.payload = packet.bytes.data() + headers;
  return {};
}

}  // namespace rocetune::engine
