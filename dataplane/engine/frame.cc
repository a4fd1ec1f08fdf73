#include "dataplane/engine/frame.h"

#include <cstring>

#include "dataplane/wire/crc32.h"

namespace rocetune::engine {

std::size_t seal(const TransmitFrame& frame, const PayloadAccess& access, wire::MutableBytes out) {
  const std::size_t size = frame.size();
  ROCETUNE_ASSERT(out.size() >= size);
  // The whole array where there is room for it: the payload goes over what is too much, and a copy of fixed
  // size takes no call.
  if (out.size() >= TransmitFrame::kHeaderRoom) {
    std::memcpy(out.data(), frame.header.data(), TransmitFrame::kHeaderRoom);
  } else {
    std::memcpy(out.data(), frame.header.data(), frame.header_size);
  }
  const std::size_t end = size - wire::kIcrcSize;
  std::byte* const payload = out.data() + frame.header_size;
  if (frame.payload.length > 0) {
    if (const std::byte* bytes = access.address_of(frame.payload)) {
      std::memcpy(payload, bytes, frame.payload.length);
    } else {
      access.read(frame.payload, {payload, frame.payload.length});
    }
  }
  for (std::size_t i = end - frame.pad; i < end; ++i) out[i] = std::byte{0};
  wire::store_icrc(out, end,
                   ~wire::crc32_extend(frame.icrc, out.subspan(frame.bth_end, end - frame.bth_end)));
  return size;
}

}  // namespace rocetune::engine
