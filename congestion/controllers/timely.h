// TIMELY: a rate driven by the gradient of the round-trip time.
// Source: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
// algorithm 1.
#pragma once

#include "congestion/controller.h"

namespace rocetune {

struct TimelyParameters {
  Ratio ewma{Ratio(875'000'000)};                 // weight of a new difference; 0.875
  Ratio beta{Ratio::from_percent(80)};            // multiplicative decrease; 0.8
  Duration low{microseconds(50)};                 // T_low: below it always increase
  Duration high{microseconds(500)};               // T_high: above it always decrease
  Duration minimum_rtt{microseconds(20)};         // what gradients are normalised by
  BitRate additive{megabits_per_second(10)};      // delta
  int hyper_after = 5;                            // samples of falling RTT before N becomes hyper_factor
  int hyper_factor = 5;                           // N in hyperactive increase
  BitRate minimum_rate{megabits_per_second(10)};  // ours: the paper leaves the floor open
  bool operator==(const TimelyParameters&) const = default;
};

class Timely {
 public:
  // `parameters` must outlive it. Starts at line rate, like DCQCN.
  Timely(const TimelyParameters& parameters, BitRate line_rate);
  void on_cnp(Instant) {}  // RTT is the only signal
  void on_ack(Instant now, const AckSample& sample);
  void on_bytes_sent(Instant, Bytes) {}
  void on_loss(Instant) {}
  void on_timer(Instant) {}
  Instant next_timer() const { return Instant::never(); }
  BitRate rate() const { return rate_; }
  std::optional<Bytes> window() const { return std::nullopt; }
  // Smoothed RTT difference over minimum_rtt.
  Ratio gradient() const;

 private:
  void scale(Ratio factor);

  const TimelyParameters* parameters_;
  BitRate line_rate_;
  BitRate rate_;
  std::optional<Duration> previous_;
  Duration difference_;
  int falling_ = 0;
};
static_assert(RateController<Timely>);

}  // namespace rocetune
