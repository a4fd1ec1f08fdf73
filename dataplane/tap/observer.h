// The passive observer: frames in, facts out. It owns no clock and no port: a capture file, a mirror port or
// a sniffing queue pair feed it alike.
#pragma once

#include <array>
#include <set>

#include "dataplane/tap/decapsulate.h"
#include "dataplane/tap/event_bins.h"
#include "dataplane/tap/neighbour_watch.h"
#include "dataplane/tap/pause_timeline.h"
#include "dataplane/tap/stream_table.h"

namespace rocetune::tap {

struct ObserverOptions {
  // What pause quanta are counted with; empty: 100 Gb/s is assumed, and said so.
  std::optional<BitRate> link_speed;
  StormRule storm;
  bool check_icrc = true;
};

class Observer {
 public:
  explicit Observer(const ObserverOptions& options);

  // One frame, at most 64 KiB of it. `original_size`: on the wire, which is more than frame.size() if it was
  // cut. Times may repeat and even run backwards; the earliest and the latest bound the observation.
  void observe(LinkType link, wire::ConstBytes frame, std::uint32_t original_size, Instant now);
  // The source ends inside a frame.
  void note_truncated() { truncated_ = true; }

  // Everything so far. Costs time in proportion to what was seen; the observation can go on.
  TapFacts facts() const;

 private:
  void on_roce(const InnerFrame& frame, std::int64_t frame_size, Instant now);
  void on_mac_control(const InnerFrame& frame, Instant now);
  void count_icrc(const wire::RocePacket& packet);
  void count_answer(const wire::RocePacket& packet, Instant now);
  void answer(StreamTable::Index index, const wire::RocePacket& packet, Instant now);
  std::optional<StreamTable::Index> peer_of(StreamTable::Index index, const wire::RocePacket& packet);
  std::vector<std::string> notes(const TapFacts& facts) const;

  ObserverOptions options_;
  BitRate link_speed_;
  StreamTable streams_;
  PauseTimeline pauses_;
  NeighbourWatch neighbours_;
  EventBins events_;

  struct DscpCount {
    std::int64_t packets = 0, ce = 0, not_ect = 0;
  };
  // Distinct flows: (stream, UDP source port).
  std::set<std::pair<StreamTable::Index, std::uint16_t>> flows_;
  std::array<DscpCount, Dscp::kCount> dscps_{};
  std::array<std::int64_t, Priority::kCount> pcps_{};
  std::array<std::int64_t, 8> naks_{};
  std::array<std::int64_t, 8> malformed_{};
  std::array<std::int64_t, 8> wrapped_{};
  std::int64_t frames_ = 0, roce_ = 0, roce_v1_ = 0, acks_ = 0, ce_ = 0, cnps_ = 0, retransmitted_ = 0;
  std::int64_t icrc_ok_ = 0, icrc_bad_ = 0, icrc_unknown_ = 0, unknown_opcodes_ = 0;
  std::int64_t pfc_ = 0, xoff_ = 0, xon_ = 0, global_ = 0, lldp_ = 0, too_many_streams_ = 0;
  bool truncated_ = false;
  std::optional<Instant> first_;
  Instant last_;
};

}  // namespace rocetune::tap
