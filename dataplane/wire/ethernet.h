// Ethernet with its VLAN tags (IEEE 802.3, 802.1Q).
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>

#include "congestion/units.h"
#include "dataplane/wire/bytes.h"
#include "dataplane/wire/malformed.h"

namespace rocetune::wire {

struct MacAddress {
  std::array<std::uint8_t, 6> octets{};
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};
std::string to_text(const MacAddress&);  // "02:00:00:00:00:10"

// EtherType values, IEEE registration authority.
namespace ether_type {
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kVlan = 0x8100;         // customer tag
constexpr std::uint16_t kServiceVlan = 0x88A8;  // provider tag (QinQ)
constexpr std::uint16_t kOldQinq = 0x9100;      // pre-standard outer tag, still sent
constexpr std::uint16_t kIpv6 = 0x86DD;
constexpr std::uint16_t kMacControl = 0x8808;
constexpr std::uint16_t kRoceV1 = 0x8915;
constexpr std::uint16_t kLldp = 0x88CC;
constexpr std::uint16_t kTransparentBridging = 0x6558;  // Ethernet in GRE
constexpr std::uint16_t kErspan2 = 0x88BE;              // ERSPAN types I and II in GRE
constexpr std::uint16_t kErspan3 = 0x22EB;
constexpr bool is_vlan(std::uint16_t type) {
  return type == kVlan || type == kServiceVlan || type == kOldQinq;
}
}  // namespace ether_type

struct VlanTag {
  std::uint16_t type = ether_type::kVlan;  // the tag's own EtherType
  Priority pcp;
  bool drop_eligible = false;
  std::uint16_t id = 0;  // 0..4095; 0: priority tag only
  bool operator==(const VlanTag&) const = default;
};

// What lies behind an Ethernet header and its tags (two at most; a third is left as the type).
struct EthernetPayload {
  std::uint16_t type = 0;
  std::size_t offset = 0;
  // Error: truncated.
  static Decoded<EthernetPayload> find(ConstBytes frame) {
    std::size_t at = 12;
    if (frame.size() < at + 2) return malformed(Malformed::truncated);
    std::uint16_t type = load16(frame, at);
    for (int tags = 0; tags < 2 && ether_type::is_vlan(type); ++tags) {
      at += 4;
      if (frame.size() < at + 2) return malformed(Malformed::truncated);
      type = load16(frame, at);
    }
    return EthernetPayload{type, at + 2};
  }
};

struct EthernetHeader {
  static constexpr std::size_t kSize = 14;
  static constexpr std::size_t kTagSize = 4;
  static constexpr std::size_t kMaxTags = 2;

  MacAddress destination;
  MacAddress source;
  std::array<VlanTag, kMaxTags> tags{};  // outermost first
  std::size_t tag_count = 0;
  std::uint16_t type = 0;  // of the payload, behind the tags
  bool operator==(const EthernetHeader&) const = default;

  std::size_t size() const { return kSize + kTagSize * tag_count; }
  // The priority the frame travels with; none without a tag. QinQ: the outer tag's, which switches look at.
  std::optional<Priority> pcp() const { return tag_count > 0 ? std::optional(tags[0].pcp) : std::nullopt; }
  // A third tag is left in `type`. Error: truncated.
  static Decoded<EthernetHeader> parse(ConstBytes frame);
  // `out` must hold size() bytes. Returns them.
  std::size_t emit(MutableBytes out) const;
};

}  // namespace rocetune::wire
