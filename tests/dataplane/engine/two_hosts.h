// Two endpoints and a wire a test holds in its hand: frames are taken from one, looked at, changed, lost, and
// given to the other. Time stands still until the test moves it.
#pragma once

#include <functional>
#include <vector>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/host_memory.h"
#include "dataplane/wire/roce_packet.h"

namespace rocetune::engine {

using Frame = std::vector<std::byte>;

// The RoCE packet of a whole frame; the frame must be one and outlive it.
wire::RocePacket packet_of(const Frame& frame);
// Computes the ICRC anew, after a test changed the frame.
void reseal(Frame& frame);

class Host {
 public:
  static constexpr std::uint64_t kBase = 0x10000;  // what requests call the first byte
  static constexpr std::uint32_t kSize = 1 << 17;

  explicit Host(std::uint32_t address, const EndpointOptions& options = {});

  // Where the request's bytes are.
  Buffer buffer(std::uint32_t offset, std::uint32_t length) const { return {kBase + offset, length, key}; }
  std::span<std::byte> bytes(std::uint32_t offset, std::uint32_t length) {
    return std::span(storage).subspan(offset, length);
  }
  std::uint64_t word(std::uint32_t offset) const;
  void set_word(std::uint32_t offset, std::uint64_t value);
  // Bytes that depend on `seed`.
  void fill(std::uint32_t offset, std::uint32_t length, std::uint32_t seed);
  // Everything that can be sent now, sealed. Payload is then no longer referred to, unless `holds_memory`.
  std::vector<Frame> take(Instant now, bool holds_memory = false);
  void give(Instant now, const Frame& frame);
  void give(Instant now, const std::vector<Frame>& frames);
  std::vector<Completion> completions();

  wire::IpAddress ip;
  std::vector<std::byte> storage;
  HostMemory memory;
  Endpoint endpoint;
  MemoryKey key;  // all of storage, every access
  wire::Qpn qpn;
};

struct TwoHosts {
  explicit TwoHosts(const EndpointOptions& options = {}) : a(1, options), b(2, options) {}
  // One reliable connection; `change` adjusts what both ends say.
  void connect(const std::function<void(ConnectParameters&)>& change = {});
  // Passes frames both ways until neither end has any; `drops(frame)` loses one.
  void settle(const std::function<bool(const Frame&)>& drops = {});
  // Moves time until a timer has given either end something to send, and settles. False if none will.
  bool advance(const std::function<bool(const Frame&)>& drops = {});

  Host a;
  Host b;
  Instant now{microseconds(1)};
};

}  // namespace rocetune::engine
