// One direction of a RoCE conversation: everything from one address to one queue pair of another. Accounts
// each packet and, once the reverse direction is known, what answers tell about it.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/tap/facts.h"
#include "dataplane/tap/latency_histogram.h"
#include "dataplane/tap/psn_set.h"
#include "dataplane/wire/roce_packet.h"

namespace rocetune::tap {

struct StreamKey {
  wire::IpAddress source;
  wire::IpAddress destination;
  wire::Qpn destination_qp;
  bool operator==(const StreamKey&) const = default;
};

class Stream {
 public:
  explicit Stream(const StreamKey& key) : key_(key) {}

  // A packet of this direction; `frame_size` on the wire. True: request or read response that was seen
  // before.
  bool on_packet(const wire::RocePacket& packet, std::int64_t frame_size, Instant now);
  // An answer of the paired direction: ACK, NAK, read response or atomic acknowledge with this PSN.
  void on_answer(const wire::RocePacket& packet, Instant now);
  // A CNP of the paired direction.
  void on_cnp(Instant now);

  const StreamKey& key() const { return key_; }
  // Whether a request with that PSN was seen: the test by which an answer finds its direction.
  bool has_request(wire::Psn psn) const { return requests_.contains(psn); }
  bool has_data() const { return data_packets_ > 0; }
  // Whether data comes from another UDP port than the data before it did: perhaps a flow not seen yet.
  bool is_new_flow(std::uint16_t port) {
    const bool changed = flow_port_ != port;
    flow_port_ = port;
    return changed;
  }

  // Index of the reverse direction once found; the candidate while it is being found.
  std::optional<std::uint32_t> peer;
  std::optional<std::uint32_t> candidate;
  int confirmations = 0;
  std::uint32_t pairing_attempts = 0;

  QueuePairFacts facts(Instant start) const;

 private:
  // A request that waits for the answer that completes it.
  struct Pending {
    wire::Psn last;
    Instant start;
    bool is_read = false;
  };
  struct Sent {
    wire::Psn psn;
    Instant at;
  };
  static constexpr std::size_t kMaxPending = 4096;

  void count_opcode(std::uint8_t opcode);
  void on_request(const wire::RocePacket& packet, Instant now);
  void on_message_part(const wire::RocePacket& packet, Instant now);
  void close_message(wire::Psn last, bool is_read);
  void acknowledge_through(wire::Psn psn, bool sample_rtt, Instant now);
  void count_unseen(wire::Psn acknowledged);
  void learn_mtu(const wire::RocePacket& packet);

  StreamKey key_;
  PsnSet requests_;
  PsnSet responses_;
  std::deque<Sent> sent_;
  std::deque<Pending> pending_;
  std::optional<wire::Psn> acknowledged_;  // everything up to here; unset before the first answer
  std::optional<wire::Psn> first_request_;
  bool has_reads_ = false;

  // The message that is being sent.
  bool message_open_ = false;
  Instant message_start_;
  std::int64_t message_bytes_ = 0;
  std::optional<std::int64_t> message_length_;

  std::optional<Instant> unanswered_ce_;
  Instant first_;
  Instant last_;
  bool any_ = false;
  std::int32_t flow_port_ = -1;
  std::uint16_t port_ = 0;
  std::uint16_t first_port_ = 0;
  std::int64_t ports_ = 0;
  std::int64_t data_packets_ = 0;
  std::vector<std::pair<std::uint8_t, std::int64_t>> opcodes_;  // a handful: searched in order
  std::array<std::int64_t, 8> naks_{};                          // by AckKind
  std::array<std::int64_t, 33> sizes_{};                        // messages by bit width
  std::int64_t packets_ = 0, bytes_ = 0, payload_ = 0, ce_ = 0, cnps_ = 0, acks_ = 0;
  std::int64_t retransmitted_ = 0, retransmitted_bytes_ = 0, unseen_ = 0;
  std::int64_t messages_ = 0, messages_bytes_ = 0, largest_ = 0;
  std::int64_t mtu_ = 0;
  LatencyHistogram rtt_, message_latency_, cnp_reaction_;
};

// "sequence", "rnr", "invalid_request", …
const char* nak_name(wire::AckKind kind);

}  // namespace rocetune::tap
