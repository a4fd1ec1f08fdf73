// Priority flow control (IEEE 802.1Qbb) as two state machines: who is paused (the sending side of a link end)
// and who pauses (the receiving side). Global 802.3x pause is the same with all priorities at once.
#pragma once

#include <array>
#include <optional>

#include "congestion/units.h"

namespace rocetune {

// What a PFC frame says: for every priority in `enabled`, pause for `quanta` (0: resume). Other entries of
// `quanta` mean nothing.
struct PfcMessage {
  PrioritySet enabled;
  std::array<PauseQuanta, Priority::kCount> quanta{};
  bool operator==(const PfcMessage&) const = default;
};

// The sending side: which priorities may send, by what the peer asked. A pause lasts `quanta` × 512 bit times
// of this link from the moment it takes effect; a later frame replaces what is left of an earlier one.
class PauseState {
 public:
  explicit PauseState(BitRate link) : link_(link) {}
  // `now` is when the frame takes effect: arrival plus the reaction time of IEEE 802.3 annex 31B, which the
  // caller models.
  void on_pfc(Instant now, const PfcMessage& message);
  void on_global_pause(Instant now, PauseQuanta quanta);
  bool may_send(Instant now, Priority p) const { return now >= until_[index(p)]; }
  // When `p` may send if nothing more arrives; not later than now if it may.
  Instant paused_until(Priority p) const { return until_[index(p)]; }
  // Time `p` has been paused up to `now`: what rx_prio*_pause_duration counts.
  Duration paused_time(Instant now, Priority p) const;
  // Runs → paused and back (a refresh is none): what rx_prio*_pause_transition counts.
  std::int64_t transitions(Priority p) const { return transitions_[index(p)]; }

 private:
  static std::size_t index(Priority p) { return static_cast<std::size_t>(p.value()); }
  void pause(Instant now, Priority p, PauseQuanta quanta);

  BitRate link_;
  std::array<Instant, Priority::kCount> until_{};
  std::array<Instant, Priority::kCount> since_{};   // start of the pause that ends at until_
  std::array<Duration, Priority::kCount> total_{};  // of pauses before it
  std::array<std::int64_t, Priority::kCount> transitions_{};
};

// What the receiving side asks of its peer and how often.
struct PauserParameters {
  PauseQuanta quanta{0xFFFF};  // what NICs and switches send; IEEE 802.1Qbb leaves it open
  // A pause that must go on is sent again after this share of its time. Half leaves room for one lost frame.
  Ratio refresh{Ratio::from_percent(50)};
};

// The receiving side: buffers say above Xoff or below Xon, and PFC frames come out.
class Pauser {
 public:
  Pauser(BitRate link, PauserParameters parameters);
  // The buffer of `p` crossed its thresholds: true above Xoff, false below Xon. Between them say nothing.
  // Returns the frame to send now, none if the peer knows already.
  std::optional<PfcMessage> on_buffer(Instant now, Priority p, bool above_xoff);
  // Refreshes whatever is due, all priorities in one frame.
  std::optional<PfcMessage> on_timer(Instant now);
  Instant next_timer() const;
  PrioritySet paused() const { return paused_; }

 private:
  Duration refresh_interval_;
  PauseQuanta quanta_;
  PrioritySet paused_;
  std::array<Instant, Priority::kCount> refresh_at_{};
};

}  // namespace rocetune
