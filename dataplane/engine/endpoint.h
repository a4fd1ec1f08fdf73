// A RoCE v2 endpoint without IO: reliable connections (and receiving UC and UD) as a state machine that is
// told what arrived and what time it is, and is asked what to send. It has no clock, no thread, no socket,
// and allocates nothing after its construction but in create and connect (nothing there either once warm).
//
// The life of one WRITE:
//   post_send()        the request takes a slot and its packet sequence numbers; the queue pair turns active
//   poll_transmit()    frames: headers, and references to the payload, paced by the queue pair's controller
//   on_transmitted()   the port no longer refers to their payload
//   on_frames()        the acknowledgement arrives
//   poll_completion()  once acknowledged and no longer referred to
//
// One caller, one thread: `now` must never go back. Spurious calls are harmless. The loop of a driver:
//
//   const Instant now = clock.now();                        // one sample a burst
//   endpoint.on_frames(now, received);                      // payload is placed when it returns
//   endpoint.on_timeout(now);                               // cheap when nothing is due
//   const auto n = endpoint.poll_transmit(now, frames);     // up to frames.size()
//   for (i < n) seal(frames[i], access, place_in_ring);     // headers, payload, ICRC
//   endpoint.on_transmitted(ticket of the last frame that left the ring);
//   while (endpoint.poll_completion(completion)) …
//
// Source: InfiniBand architecture specification, volume 1, chapter 9 (transport layer), 10.3 (queue pairs);
// annex A17 (RoCE v2). docs/protocol.md lists clause, file and test, and what is not supported.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "dataplane/engine/completion.h"
#include "dataplane/engine/frame.h"
#include "dataplane/engine/memory_region.h"
#include "dataplane/engine/parameters.h"
#include "dataplane/engine/statistics.h"
#include "dataplane/engine/work_request.h"

namespace rocetune::engine {

struct EndpointState;

enum class QueuePairState : std::uint8_t {
  unused,     // no such queue pair
  created,    // receive requests may be posted
  connected,  // both directions work
  error,      // everything posted is flushed; only destroy() leads out
};

class Endpoint {
 public:
  // `access` must outlive the endpoint. Asserts on sizes outside EndpointOptions' ranges.
  Endpoint(const EndpointOptions& options, PayloadAccess& access);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Memory regions. Errors: bad_input, conflict (no free row), absent.
  Expected<MemoryKey> add_region(const RegionOptions& options);
  Expected<> remove_region(MemoryKey key);
  // Whether a frame that was handed out may still refer to the region, removed or not.
  bool is_referenced(MemoryKey key) const;

  // Queue pairs. The number is known before connecting, because the peer needs it. Errors: bad_input,
  // conflict (no room left, wrong state), absent (unknown queue pair).
  Expected<wire::Qpn> create(const QueuePairOptions& options);
  Expected<> connect(wire::Qpn qpn, const ConnectParameters& parameters);
  // To the error state: everything posted completes as flushed.
  Expected<> fail(wire::Qpn qpn);
  // Its requests vanish without completion; frames handed out may still refer to their memory
  // (is_referenced).
  Expected<> destroy(wire::Qpn qpn);
  QueuePairState state(wire::Qpn qpn) const;

  // Work. See PostRefusal.
  Posted post_send(wire::Qpn qpn, const SendRequest& request);
  Posted post_receive(wire::Qpn qpn, const ReceiveRequest& request);

  // In.
  void on_frames(Instant now, std::span<const ReceivedFrame> frames);
  void on_timeout(Instant now);
  // Frames up to and including this ticket no longer refer to payload memory: sent, or copied. Frames leave
  // in the order they were handed out. Needless if EndpointOptions::payload_is_copied.
  void on_transmitted(std::uint64_t ticket);
  // The caller was away (its core was taken): round-trip times that span this moment are not samples.
  void on_pause();

  // Out.
  // Fills frames from the front; returns how many. Fewer than asked: nothing more may be sent now.
  std::size_t poll_transmit(Instant now, std::span<TransmitFrame> frames);
  // When on_timeout() has something to do; never() if nothing is pending. May be early, never late.
  Instant next_timeout() const;
  // True if poll_transmit() may have a frame now.
  bool has_frames() const;
  bool poll_completion(Completion& completion);

  const Statistics& statistics() const;
  // What a queue pair's controller allows now; none for an unknown queue pair.
  std::optional<BitRate> rate(wire::Qpn qpn) const;

 private:
  std::unique_ptr<EndpointState> state_;
};

}  // namespace rocetune::engine

namespace rocetune {
ROCETUNE_ENUM(engine::QueuePairState, P{E::unused, "unused"}, P{E::created, "created"},
              P{E::connected, "connected"}, P{E::error, "error"});
}  // namespace rocetune
