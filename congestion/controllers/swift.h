// Swift: keeps the round-trip delay at a target by an additive-increase, multiplicative-decrease window that
// may fall below one packet, when pacing takes over. Source: Kumar et al., "Swift: Delay is Simple and
// Effective for Congestion Control in the Datacenter", SIGCOMM 2020, sections 3.1 to 3.5 (fabric delay only:
// a NIC's or engine's own host delay is not in the sample).
#pragma once

#include "congestion/controller.h"

namespace rocetune {

struct SwiftParameters {
  Duration base_target{microseconds(25)};  // fabric base target; the paper's experiments use 25 to 50 us
  Duration per_hop{microseconds(1)};       // h-bar; the paper leaves the value to the operator; ours
  int hops = 5;                            // forward hops; a fat tree's longest path
  Duration flow_scaling_range{
      microseconds(100)};  // fs_range; 4 × base target, the paper's figure 7 shape; ours
  // Between these windows (packets, in 1/1000) flow scaling acts.
  std::int64_t flow_scaling_minimum = 100;          // 0.1
  std::int64_t flow_scaling_maximum = 100'000;      // 100
  Ratio additive_increase{Ratio::one()};            // ai, packets per round trip; paper: 1.0
  Ratio beta{Ratio::from_percent(80)};              // multiplicative decrease; paper: 0.8
  Ratio maximum_decrease{Ratio::from_percent(50)};  // max_mdf; paper: 0.5
  std::int64_t minimum_window = 1;                  // packets in 1/1000; paper: 0.001
  std::int64_t maximum_window = 1'000'000;          // packets in 1/1000; ours: 1000 packets
  Bytes packet{1024};                               // what one window unit is: the path MTU
  bool operator==(const SwiftParameters&) const = default;
};

class Swift {
 public:
  // Starts with a window that fills line rate over the base target delay.
  Swift(const SwiftParameters& parameters, BitRate line_rate);
  void on_cnp(Instant) {}  // delay is the only signal
  void on_ack(Instant now, const AckSample& sample);
  void on_bytes_sent(Instant, Bytes) {}
  // A retransmission: one maximum decrease per round trip.
  void on_loss(Instant now);
  void on_timer(Instant) {}
  Instant next_timer() const { return Instant::never(); }
  // Window over the last round-trip time, never above line rate.
  BitRate rate() const;
  // Below one packet the window stays one packet and the rate does the rest.
  std::optional<Bytes> window() const;

  // Base + hops + flow scaling at the present window.
  Duration target_delay() const;
  // Packets in 2^-20.
  std::int64_t window_scaled() const { return window_; }
  static constexpr int kWindowFraction = 20;

 private:
  void decrease(Instant now, Ratio keep);
  void clamp();

  const SwiftParameters* parameters_;
  BitRate line_rate_;
  std::int64_t window_;
  Duration rtt_;
  Instant last_decrease_;
  bool has_decreased_ = false;
};
static_assert(RateController<Swift>);

}  // namespace rocetune
