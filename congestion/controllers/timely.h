// TIMELY: a rate driven by the gradient of the round-trip time.
// Sources: [T] Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
// algorithm 1; [S] its authors' code, as eRPC carries it (src/cc/timely.h), for what the paper leaves open.
#pragma once

#include "congestion/controller.h"

namespace rocetune {

// What is a share of the line rate is an absolute rate in [T], for NICs of 10 Gb/s: ten times as fast, the
// same step would take ten times as many samples to win back what one has cost.
struct TimelyParameters {
  Ratio ewma{Ratio(875'000'000)};             // weight of a new difference; 0.875 [T]
  Ratio beta{Ratio::from_percent(80)};        // multiplicative decrease; 0.8 [T]
  Duration low{microseconds(50)};             // T_low: below it always increase [T]
  Duration high{microseconds(500)};           // T_high: above it always decrease [T]
  Duration minimum_rtt{microseconds(20)};     // what gradients are normalised by [T]
  Ratio additive{Ratio(1'000'000)};           // delta, of the line rate; 0.1 %: 10 Mb/s of 10 Gb/s [T]
  int hyper_after = 5;                        // samples of falling RTT before N becomes hyper_factor [T]
  int hyper_factor = 5;                       // N in hyperactive increase [T]
  Ratio least_left{Ratio::from_percent(50)};  // one sample leaves at least this share of the rate [S]
  Ratio minimum_rate{Ratio(1'000'000)};       // of the line rate; 0.1 %: 5 MB/s of 40 Gb/s [S]
  bool operator==(const TimelyParameters&) const = default;
};

class Timely {
 public:
  // `parameters` must outlive it. Starts at line rate, like DCQCN. ([T]'s flows start at C/(n+1) of a NIC
  // with n others: a host with one flow starts the next one at half the line rate.)
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
  void add(int steps);
  void scale(Ratio factor);
  BitRate of_line_rate(Ratio share) const;

  const TimelyParameters* parameters_;
  BitRate line_rate_;
  BitRate rate_;
  std::optional<Duration> previous_;
  Duration difference_;
  int falling_ = 0;
};
static_assert(RateController<Timely>);

}  // namespace rocetune
