// The sending end of a link: may a class send now, and if not, when? Ethernet answers by what PFC frames
// said, InfiniBand by credits (InfiniBand architecture specification, volume 1, 7.9).
#pragma once

#include <memory>

#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

enum class FlowControl : std::uint8_t { pfc, credits };

class LinkGate {
 public:
  // `credits`: what the other end has room for in each lane at the beginning.
  LinkGate(BitRate rate, FlowControl kind, Bytes credits) : pause_(rate) {
    if (kind == FlowControl::credits) credits_ = std::make_unique<Credits>(credits);
  }
  bool may_send(Instant now, Priority p, std::uint32_t bytes) const {
    if (credits_ == nullptr) return pause_.may_send(now, p);
    return credits_->sent[index_of(p)] + bytes <= credits_->limit[index_of(p)];
  }
  // Something of this class waits and may not be sent. Returns when to ask again unless a message comes.
  Instant on_blocked(Instant now, Priority p) {
    if (credits_ == nullptr) return pause_.paused_until(p);
    Instant& since = credits_->blocked_since[index_of(p)];
    since = std::min(since, now);
    return Instant::never();
  }
  void on_sent(Priority p, std::uint32_t bytes) {
    if (credits_ != nullptr) credits_->sent[index_of(p)] += bytes;
  }
  // What the other end said takes effect.
  void on_message(Instant now, PacketKind kind, const LinkMessage& message) {
    if (kind == PacketKind::pause) return pause_.on_pfc(now, message.pause);
    const std::size_t lane = index_of(message.lane);
    credits_->limit[lane] = std::max(credits_->limit[lane], message.limit);
    Instant& since = credits_->blocked_since[lane];
    if (since != Instant::never()) credits_->blocked[lane] += now - since;
    since = Instant::never();
  }
  // Closed now, as far as the last message goes.
  bool is_held(Instant now, Priority p) const {
    return credits_ == nullptr ? !pause_.may_send(now, p)
                               : credits_->blocked_since[index_of(p)] != Instant::never();
  }
  // How often it was closed; by credits nobody counts.
  std::int64_t held_times(Priority p) const { return credits_ == nullptr ? pause_.transitions(p) : 0; }
  // How long it has been closed up to `now`; by credits: while something waited.
  Duration held_time(Instant now, Priority p) const {
    if (credits_ == nullptr) return pause_.paused_time(now, p);
    const Instant since = credits_->blocked_since[index_of(p)];
    return credits_->blocked[index_of(p)] + (since < now ? now - since : Duration(0));
  }

 private:
  template <class T>
  using ByClass = std::array<T, Priority::kCount>;

  struct Credits {
    explicit Credits(Bytes initial) {
      limit.fill(initial.count());
      blocked_since.fill(Instant::never());
    }
    ByClass<std::int64_t> sent{};
    ByClass<std::int64_t> limit{};
    ByClass<Instant> blocked_since{};
    ByClass<Duration> blocked{};
  };

  PauseState pause_;
  std::unique_ptr<Credits> credits_;  // none: PFC
};

}  // namespace rocetune::fabric
