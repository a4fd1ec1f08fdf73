// One seeded schedule: two endpoints in virtual time, a few requests of every kind each way, a wire with
// faults for a while and without them after, a port that sends late. Whatever happens, must hold:
//
//   - each work request completes exactly once, in the order of posting;
//   - if nothing justifies an error, every request succeeds, and soon;
//   - payload is exact; not one byte outside its place changes, not even later, by a late duplicate;
//   - atomics are carried out exactly once.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/random.h"
#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/host_memory.h"

namespace rocetune::engine {

// What many schedules together must have met.
struct Coverage {
  std::array<std::uint64_t, 16> statuses{};  // by CompletionStatus
  Statistics totals;                         // drops and all
  std::uint64_t faults = 0;
  std::uint64_t wrapped = 0;  // schedules that passed PSN 2^24
};

class Schedule {
 public:
  // What a side puts on the wire, before any fault.
  using Listener = std::function<void(Instant, std::span<const std::byte>)>;

  Schedule(std::uint64_t seed, Coverage& coverage, Listener listener = {});
  // Empty if everything held, else what did not.
  std::string run();

 private:
  static constexpr std::uint32_t kOperations = 6;  // a side
  static constexpr std::uint32_t kSlot = 1536;     // longest message: six packets of 256 and no more
  static constexpr std::uint64_t kBase = 0x40000;
  static constexpr std::uint64_t kScribble = 0xDEAD;  // painted over what its owner has taken back

  // Places in a side's memory, in slots; the gaps between messages and slots are guards.
  enum Area : std::uint32_t {
    kSource = 0,
    kWritten = 6,
    kReceived = 12,
    kReadable = 18,
    kWords = 19,
    kEnd = 20
  };

  struct Operation {
    SendRequest request;
    Instant at;  // when it is posted
    bool is_bad = false;
    bool is_posted = false;
    bool is_done = false;
    bool has_succeeded = false;
    bool is_received = false;  // by a receive request of the peer
  };
  struct Receive {
    Instant at;
    std::uint32_t length = 0;
    bool is_posted = false;
    bool is_done = false;
    bool is_open = true;  // its buffer may hold part of a message
  };
  struct Side {
    Side(const EndpointOptions& options);
    HostMemory memory;
    Endpoint endpoint;
    std::vector<std::byte> bytes;
    std::vector<std::byte> shadow;  // what bytes must be
    MemoryKey key;
    MemoryKey read_only;
    wire::Qpn qpn;
    std::vector<Operation> operations;
    std::vector<Receive> receives;
    std::size_t next_done = 0;             // index into operations
    std::size_t next_received = 0;         // index into receives
    std::size_t next_arrival = 0;          // index into the peer's operations
    std::array<std::uint64_t, 2> model{};  // the peer's words, as this side's atomics left them
    Instant fails_at = Instant::never();
    std::deque<std::pair<Instant, TransmitFrame>> ring;  // handed out, not yet on the wire
  };
  struct Flying {
    Instant arrives;
    std::vector<std::byte> bytes;
    int to = 0;
  };

  void make_parameters();
  void connect();
  void plan(int index);
  SendRequest plan_request(int index, std::uint32_t i);
  void spoil(Side& side, Operation& operation);

  Instant next_event() const;
  void step();
  void act(int index);
  void pump(int index);
  void drain_ring(int index);
  void launch(int to, std::vector<std::byte> bytes);
  void deliver(int index);
  void collect(int index);
  void on_send_done(int index, const Completion& completion);
  void on_received(int index, const Completion& completion);
  void check_atomic(Side& side, const Operation& operation);

  void check_rest();
  void flush_and_check_all();
  void check_memory(int index);

  static bool takes_receive(const SendRequest& request) {
    return request.kind == SendKind::send || (request.kind == SendKind::write && request.has_immediate);
  }
  // Eight bytes of a color at an index.
  static std::uint64_t pigment(std::uint64_t color, std::size_t index) {
    std::uint64_t state = color * 0x9E3779B97F4A7C15 + index;
    return splitmix64(state);
  }
  // The color of side `index`'s slot 0; the others follow.
  std::uint64_t color_of(int index) const { return seed_ * 64 + (index == 0 ? 0 : 32); }
  Side& peer_of(int index) { return sides_[static_cast<std::size_t>(1 - index)]; }
  std::span<std::byte> place(std::vector<std::byte>& bytes, std::uint32_t slot, std::uint32_t length) {
    return std::span(bytes).subspan(std::size_t{slot} * kSlot, length);
  }
  void paint(Side& side, std::uint32_t slot, std::uint64_t color);
  bool is_painted(const Side& side, std::uint32_t slot, std::uint32_t length, std::uint64_t color) const;
  void broken(std::string what);
  bool is_ipv6() const { return seed_ % 4 == 0; }
  bool chance(int percent) { return random_.below(100) < static_cast<std::uint64_t>(percent); }

  std::uint64_t seed_;
  Random random_;
  Coverage& coverage_;
  Listener listener_;
  EndpointOptions options_;
  ConnectParameters parameters_;
  std::array<wire::Psn, 2> psns_;
  std::deque<Side> sides_;
  std::vector<Flying> flying_;
  Instant now_{microseconds(1)};
  std::string broken_;
  int loss_ = 0, duplication_ = 0, reordering_ = 0, corruption_ = 0, marking_ = 0;  // percent
  std::uint64_t faulty_frames_ = 0;  // the first ones on the wire
  std::uint64_t frames_ = 0;
  std::uint64_t faults_ = 0;
  bool may_fail_ = false;  // a bad request, a failing side, or receive requests that never come
};

}  // namespace rocetune::engine
