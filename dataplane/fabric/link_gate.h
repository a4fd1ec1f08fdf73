// The sending end of a link: may a class send now, and if not, when? Ethernet answers by what PFC frames
// said, InfiniBand by credits (InfiniBand architecture specification, volume 1, 7.9).
#pragma once

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

enum class FlowControl : std::uint8_t { pfc, credits };

class LinkGate {
 public:
  // `credits`: what the other end has room for in each lane at the beginning.
  LinkGate(BitRate rate, FlowControl kind, Bytes credits) : kind_(kind), pause_(rate) {
    limit_.fill(credits.count());
    blocked_since_.fill(Instant::never());
  }
  bool may_send(Instant now, Priority p, std::uint32_t bytes) const {
    if (kind_ == FlowControl::pfc) return pause_.may_send(now, p);
    return sent_[index_of(p)] + bytes <= limit_[index_of(p)];
  }
  // Something of this class waits and may not be sent. Returns when to ask again unless a message comes.
  Instant on_blocked(Instant now, Priority p) {
    if (kind_ == FlowControl::pfc) return pause_.paused_until(p);
    Instant& since = blocked_since_[index_of(p)];
    since = std::min(since, now);
    return Instant::never();
  }
  void on_sent(Priority p, std::uint32_t bytes) { sent_[index_of(p)] += bytes; }
  // What the other end said takes effect.
  void on_message(Instant now, PacketKind kind, const LinkMessage& message) {
    if (kind == PacketKind::pause) return pause_.on_pfc(now, message.pause);
    const std::size_t lane = index_of(message.lane);
    limit_[lane] = std::max(limit_[lane], message.limit);
    Instant& since = blocked_since_[lane];
    if (since != Instant::never()) blocked_[lane] += now - since;
    since = Instant::never();
  }
  // Closed now, as far as the last message goes.
  bool is_held(Instant now, Priority p) const {
    return kind_ == FlowControl::pfc ? !pause_.may_send(now, p)
                                     : blocked_since_[index_of(p)] != Instant::never();
  }
  // How often it was closed; by credits nobody counts.
  std::int64_t held_times(Priority p) const { return kind_ == FlowControl::pfc ? pause_.transitions(p) : 0; }
  // How long it has been closed up to `now`; by credits: while something waited.
  Duration held_time(Instant now, Priority p) const {
    if (kind_ == FlowControl::pfc) return pause_.paused_time(now, p);
    const Instant since = blocked_since_[index_of(p)];
    return blocked_[index_of(p)] + (since < now ? now - since : Duration(0));
  }

 private:
  template <class T>
  using ByClass = std::array<T, Priority::kCount>;

  FlowControl kind_;
  PauseState pause_;
  ByClass<std::int64_t> sent_{};
  ByClass<std::int64_t> limit_{};
  ByClass<Instant> blocked_since_{};
  ByClass<Duration> blocked_{};
};

}  // namespace rocetune::fabric
