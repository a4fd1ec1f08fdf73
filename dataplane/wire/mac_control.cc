#include "dataplane/wire/mac_control.h"

#include <algorithm>

namespace rocetune::wire {
namespace {
std::size_t emit_header(const MacAddress& source, std::uint16_t opcode, MutableBytes out) {
  std::ranges::fill(out.first(kMinimumFrame), std::byte{0});
  const std::size_t at =
      EthernetHeader{.destination = kPauseAddress, .source = source, .type = ether_type::kMacControl}.emit(
          out);
  store16(out, at, opcode);
  return at + 2;
}
}  // namespace

Decoded<MacControl> parse_mac_control(ConstBytes payload) {
  if (payload.size() < 4) return malformed(Malformed::truncated);
  const std::uint16_t opcode = load16(payload, 0);
  if (opcode == kPauseOpcode) return GlobalPause{PauseQuanta(load16(payload, 2))};
  if (opcode != kPfcOpcode) return OtherMacControl{opcode};
  if (payload.size() < 4 + 2 * Priority::kCount) return malformed(Malformed::truncated);
  PfcMessage message{.enabled = PrioritySet(load8(payload, 3))};
  for (std::size_t i = 0; i < message.quanta.size(); ++i) {
    message.quanta[i] = PauseQuanta(load16(payload, 4 + 2 * i));
  }
  return message;
}

std::size_t emit_pfc(const PfcMessage& message, const MacAddress& source, MutableBytes out) {
  const std::size_t at = emit_header(source, kPfcOpcode, out);
  store16(out, at, message.enabled.mask());
  for (std::size_t i = 0; i < message.quanta.size(); ++i)
    store16(out, at + 2 + 2 * i, message.quanta[i].count());
  return kMinimumFrame;
}

std::size_t emit_global_pause(GlobalPause pause, const MacAddress& source, MutableBytes out) {
  store16(out, emit_header(source, kPauseOpcode, out), pause.quanta.count());
  return kMinimumFrame;
}

}  // namespace rocetune::wire
