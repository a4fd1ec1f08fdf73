#include "dataplane/wire/ethernet.h"

#include <fmt/core.h>

namespace rocetune::wire {

std::string to_text(const MacAddress& mac) {
  const auto& o = mac.octets;
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", o[0], o[1], o[2], o[3], o[4], o[5]);
}

Decoded<EthernetHeader> EthernetHeader::parse(ConstBytes frame) {
  const auto payload = EthernetPayload::find(frame);
  if (!payload) return tl::unexpected(payload.error());
  EthernetHeader header;
  std::memcpy(header.destination.octets.data(), frame.data(), 6);
  std::memcpy(header.source.octets.data(), frame.data() + 6, 6);
  header.tag_count = (payload->offset - kSize) / kTagSize;
  for (std::size_t i = 0; i < header.tag_count; ++i) {
    const std::uint16_t control = load16(frame, kSize + kTagSize * i);
    header.tags[i] = VlanTag{.type = load16(frame, 12 + kTagSize * i),
                             .pcp = Priority(control >> 13),
                             .drop_eligible = (control & 0x1000) != 0,
                             .id = static_cast<std::uint16_t>(control & 0xFFF)};
  }
  header.type = payload->type;
  return header;
}

std::size_t EthernetHeader::emit(MutableBytes out) const {
  std::memcpy(out.first(6).data(), destination.octets.data(), 6);
  std::memcpy(out.subspan(6, 6).data(), source.octets.data(), 6);
  std::size_t at = 12;
  for (std::size_t i = 0; i < tag_count; ++i) {
    const VlanTag& tag = tags[i];
    ROCETUNE_ASSERT(tag.id < 4096);
    store16(out, at, tag.type);
    store16(out, at + 2,
            static_cast<std::uint16_t>(tag.pcp.value() << 13 | (tag.drop_eligible ? 0x1000 : 0) | tag.id));
    at += kTagSize;
  }
  store16(out, at, type);
  return at + 2;
}

}  // namespace rocetune::wire
