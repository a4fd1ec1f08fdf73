// What the suite `interop` tells each of its two sides, and what they answer: one JSON object a line, on
// standard input and output. Both sides speak it, so that only the suite knows which one is the kernel's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::interop {

enum class Operation : std::uint8_t {
  send,
  send_immediate,
  send_invalidate,
  write,
  write_immediate,
  read,
  compare_swap,
  fetch_add,
};

// What the other end of a queue pair must know.
struct Address {
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  // of its first request
  std::string gid;        // as an IP address
  std::uint32_t key = 0;  // of its memory
  std::uint64_t memory = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("qpn", self.qpn...);
    visit("psn", self.psn...);
    visit("gid", self.gid...);
    visit("key", self.key...);
    visit("memory", self.memory...);
  }
};

struct Command {
  enum class Kind : std::uint8_t {
    open,      // make a queue pair with path MTU `mtu` at the local address `gid` -> address
    connect,   // to `peer`
    fill,      // `count` messages of `sizes`: source area gets content of `seed`, target area zeros
    windows,   // open `count` windows over all memory, for the connected peer only -> keys
    receive,   // post receive requests for `count` messages of `sizes`
    ask,       // do `operation` `count` times -> completed, status, once nothing is in flight
    collect,   // wait for `count` messages received -> lengths, immediates, invalidated, status
    digest,    // -> SHA-256 of `count` messages of `sizes` in the source or target area
    counters,  // -> everything counted so far
    close,     // destroy the queue pair
  };
  Kind kind = Kind::counters;
  std::uint32_t mtu = 1024;
  std::string gid;
  std::uint32_t psn = 0;
  std::uint32_t ack_timeout = 18;  // 4.096 us · 2^n: a second, for a guest that is emulated
  std::uint32_t retry_count = 7;
  std::uint32_t rnr_retry = 7;
  Address peer;
  std::uint64_t seed = 0;
  Operation operation = Operation::send;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> sizes;  // message i has sizes[i % n] bytes
  bool of_target = false;            // digest
  // ask: message i names keys[i % n] of the peer, to be invalidated, or in place of its memory's key.
  std::vector<std::uint32_t> keys;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("kind", self.kind...);
    visit("mtu", self.mtu...);
    visit("gid", self.gid...);
    visit("psn", self.psn...);
    visit("ack_timeout", self.ack_timeout...);
    visit("retry_count", self.retry_count...);
    visit("rnr_retry", self.rnr_retry...);
    visit("peer", self.peer...);
    visit("seed", self.seed...);
    visit("operation", self.operation...);
    visit("count", self.count...);
    visit("sizes", self.sizes...);
    visit("of_target", self.of_target...);
    visit("keys", self.keys...);
  }
};

struct Reply {
  std::string error;  // empty: done
  std::optional<Address> address;
  std::uint32_t completed = 0;
  std::string status;  // of the first completion that is not a success, else "success"
  std::string digest;
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> immediates;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> invalidated;  // keys, as the receives said
  std::map<std::string, std::uint64_t> counters;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("error", self.error...);
    visit("address", self.address...);
    visit("completed", self.completed...);
    visit("status", self.status...);
    visit("digest", self.digest...);
    visit("lengths", self.lengths...);
    visit("immediates", self.immediates...);
    visit("keys", self.keys...);
    visit("invalidated", self.invalidated...);
    visit("counters", self.counters...);
  }
};

Expected<Command> parse_command(std::string_view line);
std::string to_line(const Reply& reply);

}  // namespace rocetune::interop

namespace rocetune {
ROCETUNE_ENUM(interop::Operation, P{E::send, "send"}, P{E::send_immediate, "send_immediate"},
              P{E::send_invalidate, "send_invalidate"}, P{E::write, "write"},
              P{E::write_immediate, "write_immediate"}, P{E::read, "read"},
              P{E::compare_swap, "compare_swap"}, P{E::fetch_add, "fetch_add"});
ROCETUNE_ENUM(interop::Command::Kind, P{E::open, "open"}, P{E::connect, "connect"}, P{E::fill, "fill"},
              P{E::windows, "windows"}, P{E::receive, "receive"}, P{E::ask, "ask"}, P{E::collect, "collect"},
              P{E::digest, "digest"}, P{E::counters, "counters"}, P{E::close, "close"});
}  // namespace rocetune
