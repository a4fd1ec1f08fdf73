// A host or a switch: it has ports, events of its own, and works through a window of virtual time by itself.
// Links fail, slow down and lose frames here: what either end of one does is planned at both.
//
// Order of events at one node: by time; at one time timers come first, in the order in which they were set,
// then ports that wake, then arrivals, both by port. What a node does depends on nothing else, so the order
// in which nodes take their turns, or whether they do so on several cores, changes nothing.
#pragma once

#include <queue>
#include <vector>

#include "dataplane/base/random.h"
#include "dataplane/fabric/bit_error_rate.h"
#include "dataplane/fabric/lane.h"
#include "dataplane/fabric/soonest.h"

namespace rocetune::fabric {

// A running digest of what happened at a node: cheap, and different for different histories.
class EventDigest {
 public:
  void add(Instant time, std::uint64_t what) {
    state_ = (state_ ^ static_cast<std::uint64_t>(time.since_origin().count())) * 0x9FB21C651E98DF25ULL;
    state_ = (state_ ^ (state_ >> 32) ^ what) * 0xD6E8FEB86659FD93ULL;
    state_ ^= state_ >> 29;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6A09E667F3BCC908ULL;
};

// What happens to one end of a link at a moment.
struct LinkChange {
  enum class Kind : std::uint8_t { down, up, rate, loss };
  Instant at;
  Kind kind = Kind::down;
  BitRate rate;  // kind rate
  Ratio loss;    // kind loss: of frames that arrive here
};

class Node {
 public:
  // Whether packets end here: whoever opens one touches its body.
  enum class Opens : bool { nothing, packets };
  // `seed`: of what the node draws, apart for each node.
  Node(NodeId id, Lane& lane, std::uint64_t seed, Opens opens)
      : id_(id), opens_packets_(opens == Opens::packets), lane_(lane), random_(seed, id) {}
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  NodeId id() const { return id_; }
  // How many there will be: they then take no more memory than they need.
  virtual void reserve_ports(std::size_t count);
  // The next port: what arrives there, and what leaves there towards a node of lane `peer_lane`. Both must
  // outlive the node.
  void add_port(Pipe& in, Pipe& out, std::size_t peer_lane, BitRate rate);
  std::size_t ports() const { return ins_.size(); }
  // The peer of `port` hears of a frame when its first kHead bytes are in, instead of all of them.
  void announce_heads(std::uint16_t port) { outs_[port].announces_heads = true; }
  static constexpr std::uint32_t kHead = 8 + 64;  // preamble, and what a switch looks at to find the way
  // What arrives at `port` has wrong bits at this rate. Before time begins.
  void set_bit_errors(std::uint16_t port, BitErrorRate rate);
  // After the last port.
  void start();
  void plan(std::uint16_t port, const LinkChange& change);

  // When it has something to do next.
  Instant next() const { return std::min(due_.time(), next_timer()); }
  // Something new has come in by this port.
  void on_opened(std::uint16_t port) { due_.set(ins_.size() + port, ins_[port]->next()); }
  // Does everything that is due before `end`.
  void run(Instant end);
  const EventDigest& digest() const { return digest_; }
  std::uint64_t events() const { return events_; }
  // Packets that left one of its ports onto the fabric.
  std::uint64_t packet_hops() const { return packet_hops_; }
  // Frames that links lost on the way here: by chance, or because they were down.
  std::uint64_t lost_frames() const { return lost_frames_; }
  // What left by a port, framing included, to the end of the frame that is leaving.
  std::uint64_t sent_bytes(std::uint16_t port) const { return outs_[port].sent_bytes; }
  std::uint64_t frames_lost_by_chance() const { return lost_by_chance_; }  // of them
  bool is_link_up(std::uint16_t port) const { return outs_[port].is_up; }
  BitRate link_rate(std::uint16_t port) const { return outs_[port].rate; }
  std::uint64_t link_downs() const { return link_downs_; }  // of all its ports

 protected:
  // The moment given to wake_port() has come.
  virtual void on_wake(Instant now, std::uint16_t port) = 0;
  // Something set by set_timer() is due: `what` as given there.
  virtual void on_timer(Instant now, std::uint32_t what) = 0;
  virtual void on_arrival(Instant now, std::uint16_t port, Packet& packet) = 0;
  virtual void on_port(std::uint16_t port, BitRate rate) = 0;  // one was added
  virtual void on_start() {}                                   // there are no more
  virtual void on_link(Instant now, std::uint16_t port) = 0;   // its state or rate is another one now

  // `what`: below 2^31.
  void set_timer(Instant at, std::uint32_t what) { timers_.push({at, sequence_++, what}); }
  // One moment a port; a later call replaces it, never() takes it back.
  void wake_port(std::uint16_t port, Instant at) { due_.set(port, at); }
  // Puts a packet on the link of `port` from `now` on. Returns when its last bit has left.
  Instant send(Instant now, std::uint16_t port, const Packet& packet) {
    Out& out = outs_[port];
    const std::uint32_t bytes = packet.wire_bytes;
    out.sent_bytes += bytes;
    const Instant end = now + out.time_of(bytes);
    const bool is_early = out.announces_heads && packet.kind == PacketKind::roce;
    const Instant heard = is_early ? now + out.time_of(std::min(bytes, kHead)) : end;
    if (out.pipe->send(lane_.turn, heard, packet.index)) {
      lane_.sent[lane_.turn][out.peer_lane].push_back(out.pipe);
      lane_.first_arrival = std::min(lane_.first_arrival, heard + out.pipe->delay());
    }
    packet_hops_ += packet.kind == PacketKind::neighbour ? 0 : 1;
    return end;
  }
  bool is_up(std::uint16_t port) const { return outs_[port].is_up; }
  Duration delay_of(std::uint16_t port) const { return ins_[port]->delay(); }
  BitRate rate_of(std::uint16_t port) const { return outs_[port].rate; }
  Duration time_on_link(std::uint16_t port, std::uint32_t bytes) const { return outs_[port].time_of(bytes); }
  Random& random() { return random_; }
  const Packet& packet(PacketIndex index) const { return lane_.packets[index]; }
  PacketPool& packets() { return lane_.packets; }
  void note_finished() { ++lane_.finished; }
  void note_delay(Duration delay) {
    if (lane_.delays) lane_.delays->add(static_cast<std::uint64_t>(delay / nanoseconds(1)));
  }
  EventDigest& mutable_digest() { return digest_; }

 private:
  struct Timer {
    Instant at;
    std::uint64_t sequence;
    std::uint32_t what;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  struct Out {
    Pipe* pipe;
    std::size_t peer_lane;
    BitRate rate;
    std::int64_t ps_per_byte;  // 0: no whole number
    bool is_up = true;
    bool announces_heads = false;
    std::uint64_t sent_bytes = 0;
    Duration time_of(std::uint32_t bytes) const {
      return ps_per_byte > 0 ? Duration(ps_per_byte * bytes) : transmission_time(Bytes(bytes), rate);
    }
  };
  struct Planned {
    std::uint16_t port;
    LinkChange change;
  };
  static constexpr std::uint32_t kLinkTimer = 1U << 31;
  static Out out_of(Pipe& pipe, std::size_t peer_lane, BitRate rate);
  Instant next_timer() const { return timers_.empty() ? Instant::never() : timers_.top().at; }
  void change_link(Instant now, const Planned& planned);
  void arrive(Instant now, std::uint16_t port, Packet& packet);
  bool is_lost(std::uint16_t port, const Packet& packet);

  NodeId id_;
  bool opens_packets_;
  Lane& lane_;
  Random random_;
  std::vector<Pipe*> ins_;
  std::vector<Ratio> losses_;             // by port, of frames that arrive
  std::vector<BitErrorRate> bit_errors_;  // likewise; empty: none has any
  bool is_lossy_ = false;                 // some link loses frames, or is down
  Soonest due_;                           // by port when it wakes, then by port when the next packet arrives
  std::vector<Out> outs_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t sequence_ = 0;
  EventDigest digest_;
  std::uint64_t events_ = 0;
  std::uint64_t packet_hops_ = 0;
  std::uint64_t lost_frames_ = 0;
  std::uint64_t lost_by_chance_ = 0;
  std::uint64_t link_downs_ = 0;
  std::vector<Planned> planned_;
};

}  // namespace rocetune::fabric
