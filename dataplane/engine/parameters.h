// How large an endpoint is, and what two queue pairs agree on when they connect.
#pragma once

#include <cstdint>
#include <optional>

#include "congestion/controllers/any_controller.h"
#include "congestion/dcqcn/parameters.h"
#include "dataplane/base/reflect.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::engine {

// How a queue pair spaces its frames at the rate that its controller allows.
struct PaceOptions {
  // How long a frame of data is: its payload and this; none: the frame as it is, without preamble, frame
  // check sequence and gap.
  std::optional<Bytes> around_payload;
  // A driver that polls late may catch up by this much, so that its polling interval does not become the
  // pace.
  Bytes catch_up{16 * 1024};
  // A new rate holds for what is left of a gap, too; else only for the next one.
  bool follows_rate = true;
};

// Sizes are reserved at the start; nothing is allocated later. Requests of all queue pairs share one pool, so
// that an idle queue pair costs only its own state.
struct EndpointOptions {
  std::uint32_t queue_pairs = 1024;           // 1 to 2^20
  std::uint32_t send_requests = 16384;        // posted and not completed, all queue pairs together
  std::uint32_t receive_requests = 16384;     // likewise
  std::uint32_t responder_resources = 16384;  // READs and atomics in progress or remembered, likewise
  std::uint32_t memory_regions = 1024;        // 1 to 2^24
  // Numbers of queue pairs carry the shard (one endpoint per core) in their top bits.
  std::uint32_t shard = 0;
  std::uint32_t shard_bits = 0;                 // 0 to 4; shard < 2^shard_bits
  BitRate line_rate{gigabits_per_second(100)};  // of the port
  ControllerChoice controller;                  // of every queue pair, unless it connects with another
  PaceOptions pace;
  dcqcn::NotificationPointParameters notification;
  Ecn cnp_ecn = Ecn::ect0;   // a ConnectX sends its CNPs with ECT(0)
  bool verify_icrc = true;   // false: the port has, or the frames have none (virtual fabric)
  bool compute_icrc = true;  // false: TransmitFrame::icrc is not filled in
  // True: whoever polls transmit frames copies their payload before the next call, so no request waits for
  // on_transmitted().
  bool payload_is_copied = false;
  // How long an acknowledgement lets requests of the same queue pair go first, so that a request which
  // answers a message is not held up by it and several messages share one; at most kMostWaits of their turns.
  // Much less than the peer's timeout. 0: not at all, which is right where the peer's controller takes
  // round-trip times.
  Duration acknowledgement_patience;
};

// Payload per packet (specification table "PMTU").
enum class PathMtu : std::uint16_t { b256 = 256, b512 = 512, b1024 = 1024, b2048 = 2048, b4096 = 4096 };
constexpr std::uint32_t bytes_of(PathMtu mtu) { return static_cast<std::uint32_t>(mtu); }

// How deep a queue pair's queues may get.
struct QueuePairOptions {
  wire::Service service = wire::Service::rc;  // rc; uc, ud: receive only
  std::uint32_t send_depth = 256;             // requests
  std::uint32_t receive_depth = 256;
  std::uint32_t queue_key = 0;  // ud
};

// Everything both ends must know. Defaults are perftest's and rdma-core's usual ones where they have one.
struct ConnectParameters {
  wire::Path path;
  wire::Qpn peer;
  wire::Psn psn;       // of our first request
  wire::Psn peer_psn;  // of the peer's first request
  PathMtu mtu = PathMtu::b1024;
  std::uint8_t ack_timeout = 14;                 // 4.096 us · 2^n, 1..31; 0: wait for ever
  std::uint8_t retry_count = 7;                  // 0..7
  std::uint8_t rnr_retry = 7;                    // 0..6; 7: for ever
  std::uint8_t rnr_timer = 12;                   // code of the wait we ask for (0.64 ms), 0..31
  std::uint8_t initiator_depth = 16;             // READs and atomics we may have outstanding, 0..128
  std::uint8_t responder_resources = 16;         // what we grant the peer, 0..128
  const ControllerChoice* controller = nullptr;  // instead of the endpoint's; must outlive the queue pair
  // Between two of ours only; both ends must say the same. Linux' rxe sends no credits.
  bool end_to_end_credits = false;
  bool selective_repeat = false;
  std::uint16_t partition = 0xFFFF;  // P_Key
};

}  // namespace rocetune::engine
