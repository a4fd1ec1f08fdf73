// One side's part of a test's traffic, on one queue pair.
#pragma once

#include "dataplane/base/histogram.h"
#include "dataplane/transport/pattern/session.h"
#include "dataplane/transport/perftest/test.h"

namespace rocetune::perftest {

// Where messages lie in a side's memory: it sends from the first half and receives into the second, whose
// address the peer is told. perftest lets small messages wander through a page.
constexpr Bytes kSmallestHalf(4096);
constexpr Bytes half_of(Bytes size) { return size < kSmallestHalf ? kSmallestHalf : size; }

class Traffic {
 public:
  // `window`: requests in flight, 1 for latency.
  Traffic(pattern::Shard& shard, const TickClock& clock, const Options& options, std::uint32_t window,
          const pattern::RemoteRegion& remote);

  // Posts receive requests, before the peer is told to go on. Error: conflict.
  Expected<> prepare();
  // Until all of it is done. Error: io: a request failed, or `stop`.
  Expected<> run(const pattern::StopQuestion& stop);

  // Requests completed or, if only the other side asks, messages received.
  std::uint64_t messages() const { return options_.asks() ? completed_ : received_; }
  Duration span() const { return end_ - begin_; }
  // As perftest counts it: READ from post to completion, else half a round trip.
  const Histogram& latency_ns() const { return latency_; }
  std::uint64_t not_timed() const { return not_timed_; }

 private:
  std::span<std::byte> bytes(bool of_target) const;
  engine::Buffer buffer(bool of_target) const;
  bool may_post() const;
  bool is_done() const;
  Expected<> post();
  Expected<> post_receive();
  Expected<> take(const engine::Completion& completion);
  void look_for_write();
  void sample(Instant since);

  pattern::Shard& shard_;
  const TickClock& clock_;
  const Options& options_;
  std::uint32_t window_;
  pattern::RemoteRegion remote_;
  wire::Qpn qpn_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t receives_posted_ = 0;
  Instant begin_;
  Instant end_;
  Instant last_post_;
  std::uint64_t pauses_ = 0;  // of this thread, when last_post_ was taken
  Histogram latency_;
  std::uint64_t not_timed_ = 0;
};

}  // namespace rocetune::perftest
