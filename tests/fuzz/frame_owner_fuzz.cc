// Which queue pair a frame is for: read from any bytes without leaving them.
#include <cstddef>
#include <cstdint>

#include "dataplane/transport/soft/hand_off.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::soft;
  const auto frame = std::as_bytes(std::span(data, size));
  const auto qpn = destination_of(frame);
  ROCETUNE_ASSERT(!qpn || *qpn < 1U << 24);
  const HandOff hand_off(3);
  ROCETUNE_ASSERT(hand_off.owner_of(frame, 2) < 3);
  return 0;
}
