// One core's loop around one endpoint and one port: receive burst → endpoint → timers → (its user's work) →
// frames → transmit burst, with one reading of the clock a turn.
//
//   while (!done) {
//     const Instant now = worker.receive();
//     ... completions, new requests ...
//     worker.transmit(now);
//   }
#pragma once

#include <algorithm>

#include "dataplane/base/tick_clock.h"
#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/host_memory.h"
#include "dataplane/port/neighbours.h"
#include "dataplane/port/packet_port.h"
#include "dataplane/transport/soft/frame_writer.h"
#include "dataplane/transport/soft/hand_off.h"

namespace rocetune::soft {

struct WorkerCounters {
  std::uint64_t turns = 0;
  std::uint64_t busy_turns = 0;  // with at least one frame in or out
  std::uint64_t neighbour_frames = 0;
  std::uint64_t neighbour_answers = 0;
  std::uint64_t handed_over = 0;    // frames of other shards, passed on to them
  std::uint64_t hand_off_full = 0;  // likewise, but dropped: the other does not keep up
  std::uint64_t pauses = 0;  // times that this thread lost its core, as far as the gaps between turns tell
  Duration paused;           // how long, together
};

// What runs an endpoint, whatever its port: a virtual call or two per turn, none per frame.
class Driver {
 public:
  // Reads the clock, takes what arrived to the endpoint, and lets due timers run.
  virtual Instant receive() = 0;
  // Sends what the endpoint has. `now` as receive() returned it.
  virtual void transmit(Instant now) = 0;
  // Asks who has the address. Error: io, no transmit buffer.
  virtual Expected<> ask(const wire::IpAddress& address) = 0;
  virtual const WorkerCounters& counters() const = 0;

 protected:
  ~Driver() = default;
};

template <port::PacketPort Port>
class Worker final : public Driver {
 public:
  // A gap between turns that no burst explains: the thread was away. The longest turn, a burst of 4 KiB
  // frames in and one out, takes tens of microseconds.
  static constexpr Duration kPause = microseconds(200);

  Worker(Port& port, engine::Endpoint& endpoint, const engine::HostMemory& memory,
         port::Neighbours& neighbours, const TickClock& clock)
      : port_(port),
        endpoint_(endpoint),
        memory_(memory),
        neighbours_(neighbours),
        clock_(clock),
        last_turn_(clock.now()) {}
  // One of several: frames of others go to them, and theirs for us come from them. `hand_off` must outlive
  // the worker.
  void join(HandOff& hand_off, std::uint32_t shard) {
    hand_off_ = &hand_off;
    shard_ = shard;
  }
  ~Worker() { port_.discard(std::span(spare_).first(spare_count_)); }

  Instant receive() override {
    const Instant now = clock_.now();
    if (now - last_turn_ > kPause) note_pause(now);
    last_turn_ = now;
    ++counters_.turns;
    const std::size_t count = port_.receive(received_);
    if (count > 0) {
      ++counters_.busy_turns;
      take(now, std::span(received_).first(count));
    }
    if (hand_off_ != nullptr) take_over(now);
    if (endpoint_.next_timeout() <= now) endpoint_.on_timeout(now);
    return now;
  }

  void transmit(Instant now) override {
    if (!endpoint_.has_frames()) {
      port_.transmit(now, {});
      return;
    }
    borrow();
    const std::size_t count = endpoint_.poll_transmit(now, std::span(frames_).first(spare_count_));
    // What is not one of many full bursts leaves in halves: the peer begins with the first while the second
    // is written.
    const std::size_t piece = is_streaming_ ? kBurst : std::max(kSmallestPiece, (count + 1) / 2);
    is_streaming_ = count == kBurst;
    std::span<port::TransmitBuffer> out = std::span(spare_).subspan(spare_count_ - count, count);
    spare_count_ -= count;
    const engine::TransmitFrame* frame = frames_.data();
    do {
      const std::span<port::TransmitBuffer> next = out.first(std::min(out.size(), piece));
      for (port::TransmitBuffer& buffer : next) write_frame(*frame++, memory_, buffer);
      port_.transmit(now, next);
      out = out.subspan(next.size());
    } while (!out.empty());
    if (!is_streaming_) borrow();  // for the next turn: now no frame waits for it
  }

  Expected<> ask(const wire::IpAddress& address) override {
    port::TransmitBuffer buffer;
    if (port_.reserve({&buffer, 1}) == 0)
      return fail(ErrorKind::io, "{}: no transmit buffer", port_.capabilities().name);
    buffer.size = static_cast<std::uint32_t>(neighbours_.ask(address, {buffer.data, buffer.capacity}));
    send_small(clock_.now(), buffer);
    return {};
  }

  const WorkerCounters& counters() const override { return counters_; }

 private:
  static constexpr std::size_t kBurst = 32;
  static constexpr std::size_t kSmallestPiece = 4;  // frames: what each hand-over to a port costs is shared
  static constexpr std::uint32_t kShortestFrame = 60;  // IEEE 802.3, without frame check sequence

  void note_pause(Instant now) {
    ++counters_.pauses;
    counters_.paused += now - last_turn_;
    endpoint_.on_pause();
  }

  void take(Instant now, std::span<port::ReceivedFrame> frames) {
    if (hand_off_ != nullptr) frames = pass_on(frames);
    std::size_t kept = 0;
    for (const port::ReceivedFrame& frame : frames) {
      if (port::Neighbours::concerns(frame.bytes)) [[unlikely]] {
        answer(now, frame.bytes);
      } else {
        to_endpoint_[kept++].bytes = frame.bytes;
      }
    }
    endpoint_.on_frames(now, std::span(to_endpoint_).first(kept));
    port_.release(frames);
  }

  // Gives other shards' frames to them; what is left moves to the front.
  std::span<port::ReceivedFrame> pass_on(std::span<port::ReceivedFrame> frames) {
    std::size_t kept = 0;
    for (const port::ReceivedFrame& frame : frames) {
      const std::uint32_t owner = hand_off_->owner_of(frame.bytes, shard_);
      if (owner == shard_) {
        frames[kept++] = frame;
      } else if (hand_off_->give(shard_, owner, frame)) {
        ++counters_.handed_over;
      } else {
        ++counters_.hand_off_full;
        port_.release({&frame, 1});
      }
    }
    return frames.first(kept);
  }

  void take_over(Instant now) {
    const std::size_t count = hand_off_->take(shard_, received_);
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) to_endpoint_[i].bytes = received_[i].bytes;
    endpoint_.on_frames(now, std::span(to_endpoint_).first(count));
    port_.release(std::span(received_).first(count));
  }

  // As many buffers as a burst may take, if the port has them.
  void borrow() {
    if (spare_count_ == kBurst) return;
    spare_count_ += port_.reserve(std::span(spare_).subspan(spare_count_, kBurst - spare_count_));
  }

  void answer(Instant now, wire::ConstBytes frame) {
    ++counters_.neighbour_frames;
    port::TransmitBuffer buffer;
    if (port_.reserve({&buffer, 1}) == 0) return;  // the asker asks again
    buffer.size = static_cast<std::uint32_t>(neighbours_.on_frame(frame, {buffer.data, buffer.capacity}));
    if (buffer.size == 0) return port_.discard({&buffer, 1});
    ++counters_.neighbour_answers;
    send_small(now, buffer);
  }

  void send_small(Instant now, port::TransmitBuffer& buffer) {
    while (buffer.size < kShortestFrame) buffer.data[buffer.size++] = std::byte{0};
    port_.transmit(now, {&buffer, 1});
  }

  Port& port_;
  engine::Endpoint& endpoint_;
  const engine::HostMemory& memory_;
  port::Neighbours& neighbours_;
  const TickClock& clock_;
  HandOff* hand_off_ = nullptr;  // none: the only shard
  std::uint32_t shard_ = 0;
  Instant last_turn_;
  std::array<port::ReceivedFrame, kBurst> received_;
  std::array<engine::ReceivedFrame, kBurst> to_endpoint_;
  std::array<engine::TransmitFrame, kBurst> frames_;
  std::array<port::TransmitBuffer, kBurst> spare_;  // lent by the port, not filled yet
  std::size_t spare_count_ = 0;
  bool is_streaming_ = false;  // the last burst was full
  WorkerCounters counters_;
};

}  // namespace rocetune::soft
