// What every rate controller of a sending queue pair answers to. Controllers are plain values without clock,
// thread or allocation: the engine tells them what happened and when, and asks for a rate.
//
// The engine binds a controller type when it is instantiated, or visits AnyController (controllers/) once per
// burst; there is no virtual call per packet.
#pragma once

#include <concepts>
#include <optional>

#include "congestion/units.h"

namespace rocetune {

// What one acknowledgement tells about the path.
struct AckSample {
  // From sending the acknowledged packet to receiving its acknowledgement. Empty when it cannot be trusted: a
  // retransmitted packet, or a sample taken across a pause of this thread (a preempted core reads
  // milliseconds where the path took microseconds, and a delay-based controller would stop).
  std::optional<Duration> rtt;
  Bytes acked;            // newly acknowledged payload
  bool ecn_echo = false;  // the receiver saw CE on it (rivals of DCQCN that echo marks in ACKs)
};

// Events must come in order of `now`; spurious calls of on_timer are harmless.
template <class C>
concept RateController = requires(C c, const C& r, Instant now, Bytes sent, const AckSample& sample) {
  { c.on_cnp(now) } -> std::same_as<void>;               // a congestion notification packet arrived
  { c.on_ack(now, sample) } -> std::same_as<void>;       // data was acknowledged
  { c.on_bytes_sent(now, sent) } -> std::same_as<void>;  // wire bytes of data left
  { c.on_loss(now) } -> std::same_as<void>;              // a sequence NAK or a retransmission timeout
  { c.on_timer(now) } -> std::same_as<void>;             // at or after next_timer()
  { r.next_timer() } -> std::same_as<Instant>;           // Instant::never() when nothing is pending
  { r.rate() } -> std::same_as<BitRate>;                 // pace at this rate; always positive
  { r.window() } -> std::same_as<std::optional<Bytes>>;  // unacknowledged bytes allowed; empty: no limit
};

}  // namespace rocetune
