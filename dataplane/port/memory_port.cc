#include "dataplane/port/memory_port.h"

#include <algorithm>
#include <numeric>

namespace rocetune::port {
namespace {

Capabilities capabilities_of(const MemoryLinkOptions& options, const char* name, std::uint8_t last_octet) {
  return {.name = name,
          .driver = "memory",
          .mac = {{0x02, 0, 0, 0, 0, last_octet}},  // locally administered
          .largest_frame = options.largest_frame,
          .link_speed = options.link_speed,
          .transmit_buffers = options.buffers,
          .offloads = {}};
}

}  // namespace

std::size_t BufferQueue::pop(std::span<std::uint32_t> out) {
  const std::size_t head = head_.load(std::memory_order_relaxed);
  const std::size_t count = std::min(tail_.load(std::memory_order_acquire) - head, out.size());
  for (std::size_t i = 0; i < count; ++i) out[i] = places_[(head + i) % places_.size()];
  head_.store(head + count, std::memory_order_release);
  return count;
}

void BufferQueue::push(std::span<const std::uint32_t> in) {
  const std::size_t tail = tail_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < in.size(); ++i) places_[(tail + i) % places_.size()] = in[i];
  tail_.store(tail + in.size(), std::memory_order_release);
}

MemoryPort::Lane::Lane(const MemoryLinkOptions& options)
    : capacity(static_cast<std::size_t>(options.largest_frame.count() + 63) / 64 * 64),
      slab(capacity * options.buffers),
      sizes(options.buffers),
      filled(options.buffers),
      emptied(options.buffers),
      free(options.buffers) {
  ROCETUNE_ASSERT(std::has_single_bit(options.buffers));
  std::iota(free.rbegin(), free.rend(), 0U);
}

std::size_t MemoryPort::receive(std::span<ReceivedFrame> in) {
  std::array<std::uint32_t, kMaxBurst> numbers;
  const std::size_t count = in_.filled.pop(std::span(numbers).first(std::min(in.size(), kMaxBurst)));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t size = in_.sizes[numbers[i]];
    in[i] = {{in_.data(numbers[i]), size}, numbers[i]};
    counters_.received_bytes += size;
  }
  counters_.received_frames += count;
  return count;
}

void MemoryPort::release(std::span<const ReceivedFrame> done) {
  for (const ReceivedFrame& frame : done) {
    const auto number = static_cast<std::uint32_t>(frame.buffer);
    in_.emptied.push({&number, 1});
  }
}

std::size_t MemoryPort::reserve(std::span<TransmitBuffer> out) {
  if (out_.free.size() < out.size()) {
    std::array<std::uint32_t, kMaxBurst> numbers;
    const std::size_t back = out_.emptied.pop(numbers);
    out_.free.insert(out_.free.end(), numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(back));
  }
  const std::size_t count = std::min(out.size(), out_.free.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t number = out_.free.back();
    out_.free.pop_back();
    const auto capacity = static_cast<std::uint32_t>(capabilities_.largest_frame.count());
    out[i] = {out_.data(number), capacity, 0, number};
  }
  counters_.no_transmit_buffer += count < out.size() ? 1 : 0;
  return count;
}

std::size_t MemoryPort::transmit(Instant, std::span<const TransmitBuffer> filled) {
  for (const TransmitBuffer& buffer : filled) {
    const auto number = static_cast<std::uint32_t>(buffer.buffer);
    ROCETUNE_ASSERT(buffer.size <= buffer.capacity);
    out_.sizes[number] = buffer.size;
    counters_.sent_bytes += buffer.size;
    out_.filled.push({&number, 1});
  }
  counters_.sent_frames += filled.size();
  return filled.size();
}

void MemoryPort::discard(std::span<const TransmitBuffer> filled) {
  for (const TransmitBuffer& buffer : filled) out_.free.push_back(static_cast<std::uint32_t>(buffer.buffer));
}

MemoryLink::MemoryLink(const MemoryLinkOptions& options)
    : rightward_(options),
      leftward_(options),
      left_(rightward_, leftward_, capabilities_of(options, "left", 1)),
      right_(leftward_, rightward_, capabilities_of(options, "right", 2)) {}

}  // namespace rocetune::port
