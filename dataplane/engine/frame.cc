#include "dataplane/engine/frame.h"

#include <cstring>

#include "dataplane/wire/crc32.h"

namespace rocetune::engine {

std::size_t seal(const TransmitFrame& frame, const PayloadAccess& access, wire::MutableBytes out) {
  const std::size_t size = frame.size();
  ROCETUNE_ASSERT(out.size() >= size);
  std::memcpy(out.data(), frame.header.data(), frame.header_size);
  const std::size_t body = frame.payload.length + frame.pad;
  const wire::MutableBytes payload = out.subspan(frame.header_size, body);
  if (frame.payload.length > 0) {
    if (const std::byte* bytes = access.address_of(frame.payload)) {
      std::memcpy(payload.data(), bytes, frame.payload.length);
    } else {
      access.read(frame.payload, payload.first(frame.payload.length));
    }
  }
  for (std::size_t i = frame.payload.length; i < body; ++i) payload[i] = std::byte{0};
  wire::store_icrc(out, size - wire::kIcrcSize, ~wire::crc32_extend(frame.icrc, payload));
  return size;
}

}  // namespace rocetune::engine
