// MAC control frames: PFC (IEEE 802.1Qbb) and global pause (IEEE 802.3 annex 31B).
#pragma once

#include <variant>

#include "congestion/pfc.h"
#include "dataplane/wire/ethernet.h"

namespace rocetune::wire {

constexpr MacAddress kPauseAddress{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};
constexpr std::uint16_t kPauseOpcode = 0x0001;
constexpr std::uint16_t kPfcOpcode = 0x0101;
// Smallest Ethernet frame without its FCS.
constexpr std::size_t kMinimumFrame = 60;

struct GlobalPause {
  PauseQuanta quanta;  // 0: resume
  bool operator==(const GlobalPause&) const = default;
};
// Another MAC control frame (EPON, …).
struct OtherMacControl {
  std::uint16_t opcode = 0;
  bool operator==(const OtherMacControl&) const = default;
};
using MacControl = std::variant<PfcMessage, GlobalPause, OtherMacControl>;

// `payload` follows EtherType 0x8808. Error: truncated.
Decoded<MacControl> parse_mac_control(ConstBytes payload);
// Writes kMinimumFrame bytes: addresses, EtherType, opcode, fields, zeros. Returns them.
std::size_t emit_pfc(const PfcMessage& message, const MacAddress& source, MutableBytes out);
std::size_t emit_global_pause(GlobalPause pause, const MacAddress& source, MutableBytes out);

}  // namespace rocetune::wire
