// Two ports joined by memory: what one sends the other receives, in order, the very same buffer. For tests
// and benchmarks; each end may be in a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "dataplane/port/packet_port.h"

namespace rocetune::port {

struct MemoryLinkOptions {
  std::size_t buffers = 1024;  // of each direction; a power of two
  Bytes largest_frame{4096 + 128};
  std::optional<BitRate> link_speed;
};

// A queue of buffer numbers from one thread to another; cannot overflow, because there are not more numbers
// than places.
class BufferQueue {
 public:
  explicit BufferQueue(std::size_t size) : places_(size) {}
  std::size_t pop(std::span<std::uint32_t> out);
  void push(std::span<const std::uint32_t> in);

 private:
  std::vector<std::uint32_t> places_;
  alignas(64) std::atomic<std::size_t> tail_{0};  // written by the one who pushes
  alignas(64) std::atomic<std::size_t> head_{0};  // written by the one who pops
};

class MemoryLink;

class MemoryPort {
 public:
  std::size_t receive(std::span<ReceivedFrame> in);
  void release(std::span<const ReceivedFrame> done);
  std::size_t reserve(std::span<TransmitBuffer> out);
  std::size_t transmit(Instant now, std::span<const TransmitBuffer> filled);
  void discard(std::span<const TransmitBuffer> filled);
  const Capabilities& capabilities() const { return capabilities_; }
  PortCounters counters() { return counters_; }

 private:
  friend class MemoryLink;
  // One direction's buffers: free ones wait at the sender, filled ones travel, emptied ones come back.
  struct Lane {
    explicit Lane(const MemoryLinkOptions& options);
    std::byte* data(std::uint32_t number) { return slab.data() + number * capacity; }
    std::size_t capacity;
    std::vector<std::byte> slab;
    std::vector<std::uint32_t> sizes;
    BufferQueue filled;
    BufferQueue emptied;
    std::vector<std::uint32_t> free;  // the sender's own; used last in, first out
  };
  MemoryPort(Lane& out, Lane& in, Capabilities capabilities)
      : out_(out), in_(in), capabilities_(std::move(capabilities)) {}
  Lane& out_;
  Lane& in_;
  Capabilities capabilities_;
  PortCounters counters_;
};
static_assert(PacketPort<MemoryPort>);

class MemoryLink {
 public:
  explicit MemoryLink(const MemoryLinkOptions& options);
  MemoryPort& left() { return left_; }
  MemoryPort& right() { return right_; }

 private:
  MemoryPort::Lane rightward_;
  MemoryPort::Lane leftward_;
  MemoryPort left_;
  MemoryPort right_;
};

}  // namespace rocetune::port
