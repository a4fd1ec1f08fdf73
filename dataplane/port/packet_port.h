// What moves frames: bursts in, bursts out, every buffer lent and none allocated per frame.
//
//   std::array<ReceivedFrame, 32> in;
//   const std::size_t n = port.receive(in);        // frames lie in the port's buffers
//   ... endpoint reads in[i].bytes ...
//   port.release(std::span(in).first(n));          // and the buffers go back
//
//   std::array<TransmitBuffer, 32> out;
//   const std::size_t m = port.reserve(out);       // empty buffers of the port
//   ... write_frame(out[i], ...) ...               // header, payload, pad, ICRC: frame_writer.h
//   port.transmit(now, std::span(out).first(m));   // the port owns them again, sent or dropped
//
// A port is used by one thread. Costs per burst are the port's (one virtual call where it lives behind a
// loadable part), costs per frame are the caller's.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "congestion/units.h"
#include "dataplane/base/reflect.h"
#include "dataplane/wire/bytes.h"
#include "dataplane/wire/ethernet.h"

namespace rocetune::port {

// Frames that a burst holds at most.
constexpr std::size_t kMaxBurst = 64;

// A frame lent by a port: from the destination address on, without the frame check sequence. Valid until it
// is released.
struct ReceivedFrame {
  wire::ConstBytes bytes;
  std::uintptr_t buffer = 0;  // the port's own handle
};

// A buffer lent by a port, to be filled from `data` on; `size` says how far it was.
struct TransmitBuffer {
  std::byte* data = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t size = 0;
  std::uintptr_t buffer = 0;  // the port's own handle
  wire::MutableBytes bytes() const { return {data, size}; }
};

// What the port does itself, so that nobody needs to do it in software.
struct Offloads {
  bool ipv4_checksum = false;  // computed when sent
  bool scatter = false;        // frames larger than one buffer are received
  bool operator==(const Offloads&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("ipv4_checksum", self.ipv4_checksum...);
    visit("scatter", self.scatter...);
  }
};

struct Capabilities {
  std::string name;    // "net_memif0"
  std::string driver;  // "net_memif"
  wire::MacAddress mac;
  Bytes largest_frame;                // without frame check sequence, in both directions
  std::optional<BitRate> link_speed;  // none: the port does not know, or only pretends
  std::size_t transmit_buffers = 0;   // how many can be lent at once; a caller may hold half of them
  Offloads offloads;
};

// Everything that went through a port and everything that did not, by reason. All counts since it was opened.
struct PortCounters {
  std::uint64_t received_frames = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t transmit_errors = 0;     // dropped by the device: it could not send them
  std::uint64_t transmit_full = 0;       // dropped: the device's ring did not take it in time
  std::uint64_t no_transmit_buffer = 0;  // reserve() gave fewer than asked for; nothing was dropped
  std::uint64_t receive_missed = 0;      // dropped by the device: nobody fetched it in time
  std::uint64_t receive_errors = 0;      // dropped by the device: damaged
  std::uint64_t receive_no_buffer = 0;   // dropped: no buffer to receive into
  std::uint64_t receive_oversized = 0;   // dropped: in more pieces than a buffer holds
  bool operator==(const PortCounters&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("received_frames", self.received_frames...);
    visit("received_bytes", self.received_bytes...);
    visit("sent_frames", self.sent_frames...);
    visit("sent_bytes", self.sent_bytes...);
    visit("transmit_errors", self.transmit_errors...);
    visit("transmit_full", self.transmit_full...);
    visit("no_transmit_buffer", self.no_transmit_buffer...);
    visit("receive_missed", self.receive_missed...);
    visit("receive_errors", self.receive_errors...);
    visit("receive_no_buffer", self.receive_no_buffer...);
    visit("receive_oversized", self.receive_oversized...);
  }
};

template <class P>
concept PacketPort = requires(P& port, const P& constant, Instant now, std::span<ReceivedFrame> in,
                              std::span<const ReceivedFrame> done, std::span<TransmitBuffer> out,
                              std::span<const TransmitBuffer> filled) {
  // Up to in.size() frames, oldest first; how many.
  { port.receive(in) } -> std::same_as<std::size_t>;
  // Gives received frames back, in any order.
  { port.release(done) } -> std::same_as<void>;
  // Lends up to out.size() empty buffers; how many. Fewer when the port has no more: try later.
  { port.reserve(out) } -> std::same_as<std::size_t>;
  // Takes filled buffers and sends them in order; the caller loses them all. How many it took; the rest is
  // dropped and counted. Frames that the device's ring has no room for wait, and reserve() lends less. An
  // empty burst lets a port that holds frames back send what is due: call it once per round.
  { port.transmit(now, filled) } -> std::same_as<std::size_t>;
  // Gives buffers back that are not to be sent.
  { port.discard(filled) } -> std::same_as<void>;
  { constant.capabilities() } -> std::same_as<const Capabilities&>;
  { port.counters() } -> std::same_as<PortCounters>;
};

}  // namespace rocetune::port
