// Frames as they cross the engine's border: received ones are views, transmitted ones are header bytes and a
// payload reference.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/engine/payload.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::engine {

// A frame from the wire, valid until on_frames() returns.
struct ReceivedFrame {
  // From the Ethernet header on; with the ICRC, whatever lies behind it is ignored. If `content` is set: up
  // to the last transport header, and the payload is what `content` says.
  wire::ConstBytes bytes;
  const SyntheticContent* content = nullptr;
};

// A frame to send. The emitter writes `header`, then the payload, then `pad` zero bytes, then the ICRC:
// seal() does all four.
struct TransmitFrame {
  // Ethernet with a tag, IPv6, UDP, BTH and the longest row of extended headers (AtomicETH), rounded up.
  static constexpr std::size_t kHeaderRoom = 112;
  std::array<std::byte, kHeaderRoom> header;  // from the Ethernet header to the last extended header
  std::uint16_t header_size = 0;
  std::uint8_t pad = 0;              // 0..3 zero bytes behind the payload
  std::uint32_t icrc = 0;            // CRC register behind the BTH
  PayloadReference payload;          // length 0: none
  std::uint64_t ticket = 0;          // frames handed out by this endpoint so far, this one included
  std::uint16_t network_offset = 0;  // where IP begins in `header`
  std::uint16_t bth_end = 0;         // where it ends; the ICRC goes on from here

  std::size_t size() const { return header_size + payload.length + pad + wire::kIcrcSize; }
};
static_assert(TransmitFrame::kHeaderRoom >=
              wire::PathHeaders::kMaxSize + wire::Bth::kSize + wire::AtomicEth::kSize);

// Writes the whole frame to `out`, which must hold frame.size() bytes, and returns that size. The payload is
// read from `access`.
std::size_t seal(const TransmitFrame& frame, const PayloadAccess& access, wire::MutableBytes out);

}  // namespace rocetune::engine
