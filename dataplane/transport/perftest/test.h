// perftest's tests of reliable connections, as their users know them, between one of its programs and us.
#pragma once

#include <string>

#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::perftest {

enum class Test : std::uint8_t { write_bw, read_bw, send_bw, write_lat, read_lat, send_lat };

constexpr bool is_latency(Test test) { return test >= Test::write_lat; }
constexpr bool is_write(Test test) { return test == Test::write_bw || test == Test::write_lat; }
constexpr bool is_read(Test test) { return test == Test::read_bw || test == Test::read_lat; }
constexpr bool is_send(Test test) { return test == Test::send_bw || test == Test::send_lat; }
// Both sides ask, in turns.
constexpr bool is_ping_pong(Test test) { return test == Test::write_lat || test == Test::send_lat; }

// Nobody tells the other side size and iterations: they must be given alike on both. Defaults are perftest's.
struct Options {
  Test test = Test::write_bw;
  std::string host;                 // of a perftest that waits; empty: wait for one
  std::uint32_t port = 18515;       // TCP
  Bytes size{65536};                // of a message, 1 B to 1 GiB
  std::uint32_t iterations = 1000;  // messages, 1 to 2^31
  std::uint32_t mtu = 1024;         // path MTU, unless the other side's is smaller
  std::uint32_t window = 64;        // bandwidth: messages in flight, 1 to 4096

  bool is_server() const { return host.empty(); }
  // Whether this side asks, and whether it waits for the other's messages.
  bool asks() const { return !is_server() || is_ping_pong(test); }
  bool receives() const { return is_ping_pong(test) || (is_server() && is_send(test)); }
  // Who begins a ping-pong: the client's SEND, but the server's WRITE.
  bool begins() const { return is_server() == (test == Test::write_lat); }
};

// What perftest does unless told otherwise.
constexpr Bytes default_size(Test test) { return is_latency(test) ? Bytes(2) : Bytes(65536); }
constexpr std::uint32_t default_iterations(Test test) { return test == Test::write_bw ? 5000 : 1000; }

// All that is out of range, as one bad_input error.
Expected<> check(const Options& options);

}  // namespace rocetune::perftest

namespace rocetune {
ROCETUNE_ENUM(perftest::Test, P{E::write_bw, "ib_write_bw"}, P{E::read_bw, "ib_read_bw"},
              P{E::send_bw, "ib_send_bw"}, P{E::write_lat, "ib_write_lat"}, P{E::read_lat, "ib_read_lat"},
              P{E::send_lat, "ib_send_lat"});
}  // namespace rocetune
