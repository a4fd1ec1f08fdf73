// The two roles of a benchmark on one core: who asks, and who answers.
#pragma once

#include <vector>

#include "dataplane/base/histogram.h"
#include "dataplane/base/tick_clock.h"
#include "dataplane/engine/endpoint.h"
#include "dataplane/transport/pattern/plan.h"

namespace rocetune::pattern {

// Memory of one shard, registered.
struct Registered {
  std::span<std::byte> bytes;
  std::uint64_t address = 0;  // what requests call the first byte
  engine::MemoryKey key;
};
// The peer's.
struct RemoteRegion {
  std::uint64_t address = 0;
  engine::MemoryKey key;
};

// Keeps a window of requests in flight on each of its queue pairs.
class Asker {
 public:
  // `first_remote`: the number that the answering side has given to our first queue pair. `plan` must outlive
  // the asker.
  Asker(engine::Endpoint& endpoint, const TickClock& clock, const Plan& plan, const Registered& memory,
        const RemoteRegion& remote, std::uint32_t first_remote, const std::vector<wire::Qpn>& pairs);

  // Before the first request of a row: writes the contents, clears where answers come, posts receives. Error:
  // conflict, the endpoint refuses.
  Expected<> prepare(Bytes size);
  // Handles completions, and posts new requests while `is_open`. `epoch` changes whenever this thread was
  // away: a request that spans a change is not timed. Error: io, a request failed.
  Expected<> work(bool is_open, std::uint64_t epoch);
  // Nothing is in flight.
  bool is_idle() const { return in_flight_ == 0; }
  // Whether what came back (READ, echo) is what it must be.
  bool answers_are_right() const;

  std::uint64_t completed() const { return completed_; }
  // What was posted on each queue pair since prepare().
  std::vector<MessageRange> posted() const;
  const Histogram& latency_ns() const { return latency_; }
  std::uint64_t not_timed() const { return not_timed_; }

 private:
  struct Timing {
    Instant posted;
    std::uint64_t epoch = 0;
  };
  struct Pair {
    wire::Qpn qpn;
    std::uint64_t first = 0;  // message of this row
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    // What follows from `posted`, kept beside it: no division per message.
    std::uint32_t slot = 0;            // posted % slots
    std::uint32_t target_slot = 0;     // posted % (2 × slots)
    std::uint32_t until_signaled = 0;  // requests up to the next with a completion
    std::vector<Timing> timings;       // by slot; empty unless timed
  };
  bool is_timed() const { return plan_.pattern == Pattern::latency; }
  bool is_echoed() const { return is_timed() && plan_.operation == Operation::send; }
  Expected<> post(std::uint32_t index, std::uint64_t epoch);
  // Posts what the window has room for.
  Expected<> refill(std::uint32_t index, std::uint64_t epoch);
  Expected<> post_receive(std::uint32_t index, std::uint64_t message);
  void on_done(Pair& pair, std::uint64_t done, std::uint64_t epoch);
  Expected<> on_completion(const engine::Completion& completion, std::uint64_t epoch);

  engine::Endpoint& endpoint_;
  const TickClock& clock_;
  const Plan& plan_;
  Layout layout_;
  Registered memory_;
  RemoteRegion remote_;
  std::uint32_t first_remote_;
  std::vector<Pair> pairs_;
  std::uint32_t size_ = 0;
  std::uint32_t signal_every_ = 1;
  std::uint64_t in_flight_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t not_timed_ = 0;
  Histogram latency_;
  bool receives_are_posted_ = false;
  bool is_open_ = false;
};

// Receives, and echoes what the plan wants echoed. For WRITE and READ the endpoint does it all.
class Answerer {
 public:
  Answerer(engine::Endpoint& endpoint, const Plan& plan, const Registered& memory,
           std::vector<wire::Qpn> pairs);

  Expected<> prepare(Bytes size);
  Expected<> work();
  // Whether what an asker wrote or sent is what it must be. `first`: our number of its first queue pair.
  bool content_is_right(std::uint32_t first, const std::vector<MessageRange>& posted) const;
  // Messages received by SEND.
  std::uint64_t received() const { return received_; }

 private:
  Expected<> post_receive(std::uint32_t index, std::uint64_t message);

  engine::Endpoint& endpoint_;
  const Plan& plan_;
  Layout layout_;
  Registered memory_;
  std::vector<wire::Qpn> pairs_;
  std::uint32_t size_ = 0;
  std::uint64_t received_ = 0;
  bool receives_are_posted_ = false;
};

}  // namespace rocetune::pattern
