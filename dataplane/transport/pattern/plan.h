// What a benchmark does between two or more processes. The client decides, the server is told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::pattern {

enum class Pattern : std::uint8_t {
  stream,   // one client, as many requests in flight as the window allows
  latency,  // likewise, each one timed; sends are echoed
  incast,   // several clients stream to one server at the same time
};
enum class Operation : std::uint8_t { write, read, send };

struct Plan {
  Pattern pattern = Pattern::stream;
  Operation operation = Operation::write;
  std::vector<Bytes> sizes;       // of a message, one row of results each; 1 B to 1 GiB
  std::uint32_t mtu = 1024;       // path MTU: 256, 512, 1024, 2048, 4096
  std::uint32_t window = 64;      // messages in flight on each queue pair, 1 to 4096
  std::uint32_t queue_pairs = 1;  // of each shard, 1 to 4096
  std::uint32_t shards = 1;       // cores on each side, 1 to 16
  Duration span = seconds(2);     // of each row
  bool selective_repeat = false;  // instead of go-back-N
  std::uint32_t clients = 1;      // incast: that start together, 1 to 64
  bool operator==(const Plan&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("pattern", self.pattern...);
    visit("operation", self.operation...);
    visit("sizes_bytes", self.sizes...);
    visit("mtu_bytes", self.mtu...);
    visit("window", self.window...);
    visit("queue_pairs", self.queue_pairs...);
    visit("shards", self.shards...);
    visit("span_ps", self.span...);
    visit("selective_repeat", self.selective_repeat...);
    visit("clients", self.clients...);
  }
};

constexpr std::uint32_t kLargestMtu = 4096;

// All that is out of range, as one bad_input error; also when the server's buffers would need more than 4
// GiB. `largest_mtu`: the largest path MTU whose frames the port carries, bytes.
Expected<> check(const Plan& plan, std::uint32_t largest_mtu = kLargestMtu);

// Requests of a queue pair that may be posted and not completed: those in flight, and those whose echo came
// but not their acknowledgement, which may wait.
constexpr std::uint32_t send_depth_for(const Plan& plan) { return 3 * plan.window + 16; }

// Where the bytes of a message lie. One region holds, for every queue pair, a slot to send from for each
// message that may be in flight, and twice as many to receive into.
class Layout {
 public:
  explicit Layout(const Plan& plan);
  // Of `pairs` queue pairs.
  Bytes size(std::uint32_t pairs) const {
    return Bytes(static_cast<std::int64_t>(stride_ * slots_ * 3 * pairs));
  }
  // Message number `message` of a queue pair, or only its number modulo slots(), modulo 2 × slots().
  std::uint64_t source(std::uint32_t pair, std::uint64_t message) const {
    return stride_ * (pair * 3 * slots_ + (message < slots_ ? message : message % slots_));
  }
  std::uint64_t target(std::uint32_t pair, std::uint64_t message) const {
    return stride_ * (pair * 3 * slots_ + slots_ + (message < 2 * slots_ ? message : message % (2 * slots_)));
  }
  std::uint64_t slots() const { return slots_; }
  // A slot: the largest message fits.
  std::uint32_t stride() const { return static_cast<std::uint32_t>(stride_); }

 private:
  std::uint64_t stride_;
  std::uint64_t slots_;
};

// The content of a message: known to both sides without talking about it.
void fill_message(std::span<std::byte> out, std::uint32_t pair, std::uint64_t slot);

// The messages of a queue pair in one row of results.
struct MessageRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // behind the last
  bool operator==(const MessageRange&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("first", self.first...);
    visit("end", self.end...);
  }
};

}  // namespace rocetune::pattern

namespace rocetune {
ROCETUNE_ENUM(pattern::Pattern, P{E::stream, "stream"}, P{E::latency, "latency"}, P{E::incast, "incast"});
ROCETUNE_ENUM(pattern::Operation, P{E::write, "write"}, P{E::read, "read"}, P{E::send, "send"});
}  // namespace rocetune
