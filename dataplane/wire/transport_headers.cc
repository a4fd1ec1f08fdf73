#include "dataplane/wire/transport_headers.h"

#include <array>

namespace rocetune::wire {

AckKind Aeth::kind() const {
  switch (syndrome >> 5) {
    case 0:
      return AckKind::ack;
    case 1:
      return AckKind::rnr_nak;
    case 3:
      constexpr std::array kNaks{AckKind::nak_sequence, AckKind::nak_invalid_request,
                                 AckKind::nak_remote_access, AckKind::nak_remote_operational,
                                 AckKind::nak_invalid_rd_request};
      return code() < kNaks.size() ? kNaks[code()] : AckKind::reserved;
  }
  return AckKind::reserved;
}

Duration rnr_wait(std::uint8_t timer_code) {
  // Hundredths of a millisecond; specification table "Encoding for RNR NAK Timer Field".
  constexpr std::array<std::uint16_t, 32> kWaits{
      65535, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  ROCETUNE_ASSERT(timer_code < kWaits.size());
  return timer_code == 0 ? microseconds(655'360) : microseconds(10) * kWaits[timer_code];
}

std::uint32_t credits(std::uint8_t code) {
  ROCETUNE_ASSERT(code <= 30);
  // 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, …: two steps a doubling from 2 on.
  if (code < 2) return code;
  return (code % 2 == 0 ? 2U : 3U) << (code / 2 - 1);
}

ImmDt ImmDt::parse(std::span<const std::byte, kSize> b) { return {load32(b, 0)}; }
void ImmDt::emit(std::span<std::byte, kSize> b) const { store32(b, 0, data); }

AtomicEth AtomicEth::parse(std::span<const std::byte, kSize> b) {
  return {load64(b, 0), load32(b, 8), load64(b, 12), load64(b, 20)};
}
void AtomicEth::emit(std::span<std::byte, kSize> b) const {
  store64(b, 0, address);
  store32(b, 8, rkey);
  store64(b, 12, swap_or_add);
  store64(b, 20, compare);
}

AtomicAckEth AtomicAckEth::parse(std::span<const std::byte, kSize> b) { return {load64(b, 0)}; }
void AtomicAckEth::emit(std::span<std::byte, kSize> b) const { store64(b, 0, original); }

Ieth Ieth::parse(std::span<const std::byte, kSize> b) { return {load32(b, 0)}; }
void Ieth::emit(std::span<std::byte, kSize> b) const { store32(b, 0, rkey); }

Deth Deth::parse(std::span<const std::byte, kSize> b) { return {load32(b, 0), Qpn(load24(b, 5))}; }
void Deth::emit(std::span<std::byte, kSize> b) const {
  store32(b, 0, qkey);
  store8(b, 4, 0);
  store24(b, 5, source.value());
}

Xrceth Xrceth::parse(std::span<const std::byte, kSize> b) { return {load24(b, 1)}; }
void Xrceth::emit(std::span<std::byte, kSize> b) const {
  ROCETUNE_ASSERT(shared_receive_queue <= 0xFFFFFF);
  store8(b, 0, 0);
  store24(b, 1, shared_receive_queue);
}

}  // namespace rocetune::wire
