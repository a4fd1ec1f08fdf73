#include "dataplane/engine/frame.h"

#include <algorithm>
#include <cstring>

#include "dataplane/wire/crc32.h"

namespace rocetune::engine {
namespace {
// From this size on, copying and summing in one pass beats a copy and then one sum over headers and payload.
constexpr std::size_t kOnePass = 256;
}  // namespace

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
  const wire::MutableBytes payload = out.subspan(frame.header_size, frame.payload.length);
  std::ranges::fill(out.subspan(end - frame.pad, frame.pad), std::byte{0});
  const std::byte* bytes = payload.empty() ? nullptr : access.address_of(frame.payload);
  std::uint32_t icrc = frame.icrc;
  std::size_t summed = frame.bth_end;
  if (bytes != nullptr && payload.size() >= kOnePass) {
    icrc = wire::crc32_extend(icrc, out.subspan(summed, frame.header_size - summed));
    icrc = wire::crc32_copy(icrc, payload, {bytes, payload.size()});
    summed = end - frame.pad;
  } else if (bytes != nullptr) {
    std::memcpy(payload.data(), bytes, payload.size());
  } else if (!payload.empty()) {
    access.read(frame.payload, payload);
  }
  wire::store_icrc(out, end, ~wire::crc32_extend(icrc, out.subspan(summed, end - summed)));
  return size;
}

}  // namespace rocetune::engine
