// ARP and neighbour discovery frames at a responder: an answer fits its buffer and concerns the asker's own
// responder too.
#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/port/neighbours.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  port::Neighbours neighbours(
      {{2, 0, 0, 0, 0, 1}},
      {wire::IpAddress::v4(0x0A000001), {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1}}});
  const auto frame = std::as_bytes(std::span(data, size));
  if (!port::Neighbours::concerns(frame)) return 0;
  std::array<std::byte, port::Neighbours::kLargestFrame> reply;
  const std::size_t answered = neighbours.on_frame(frame, reply);
  ROCETUNE_ASSERT(answered <= reply.size());
  if (answered > 0) ROCETUNE_ASSERT(port::Neighbours::concerns(std::span(reply).first(answered)));
  return 0;
}
