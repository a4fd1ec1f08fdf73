// The fluid model of DCQCN: what N equal flows through one marked queue do on average, as differential
// equations with delay. It says where a parameter set comes to rest; fluid_trajectory.h follows it in time,
// fluid_stability.h says whether the rest holds. Analysis for people and tuners: it decides nothing in the
// engine or the fabric, so floating point and libm are fine here.
//
// Source: Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016 ([F] in
// parameters.h), section 3: marking, queue, alpha, target and current rate. Its assumptions are the model's:
//   - a CNP can come once per tau, whatever the phase (NotificationPointParameters::Mode::fixed_window);
//   - every cut sets the target to the current rate;
//   - no hyper increase, which needs more than F stages of timer and of byte counter without a CNP;
//   - no PFC, no loss, and no packet: alpha, rates and queue are means.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

#include "congestion/dcqcn/parameters.h"

namespace rocetune::dcqcn {

// Where the flows meet.
struct Bottleneck {
  BitRate link;         // C, of the shared link and of every sender; positive
  int flows = 2;        // N, all alike and always sending; at least 1
  Bytes packet{1'000};  // marking is per packet; positive
  Duration loop_delay;  // tau*: from the marked queue to the receiver and back to the sender; 0 to 10 ms
};

// A parameter set that the equations do not describe: which value, what it is, what they need.
struct OutsideModel {
  std::string parameter;
  std::string found;
  std::string allowed;
  bool operator==(const OutsideModel&) const = default;
};

// Where nothing moves. Alpha and rates are those of each flow.
struct FixedPoint {
  Ratio marking;   // p*, 0..Pmax
  Ratio alpha;     // alpha*
  BitRate rate;    // R_C* = C/N
  BitRate target;  // R_T*
  Bytes queue;     // q*, Kmin..Kmax
};

// Why nothing can rest.
struct NoFixedPoint {
  enum class Reason : std::uint8_t {
    above_kmax,          // p* is above Pmax: the queue runs against the jump to 1 at Kmax
    below_minimum_rate,  // C/N is less than a flow may be cut to: the queue grows without end
    at_maximum_rate,     // C/N or R_T* is above what a flow may send: it is not the marks that hold it
  };
  Reason reason;
  Ratio marking;  // above_kmax: the p* that C/N would need; else 0
};

// The equations' variables, per flow, in the units they are written in: packets and seconds.
struct FluidState {
  double rate = 0;    // R_C, packets/s
  double target = 0;  // R_T, packets/s
  double alpha = 0;   // 0..1
  double queue = 0;   // packets, of all flows together
};
// What the sender acts on: one loop delay old.
struct FluidSignal {
  double rate = 0;     // packets/s
  double marking = 0;  // probability
};

class FluidModel {
 public:
  // tau is the longer of np_min_time_between_cnps and rp_rate_reduce_monitor_period, tau' rp_dce_tcp_rtt, T
  // rp_time_reset, B rp_byte_reset (0: no byte counter), F rp_threshold. Error: the first value that the
  // equations do not describe.
  static tl::expected<FluidModel, OutsideModel> of(const Parameters& parameters,
                                                   const Bottleneck& bottleneck);

  // Solved by bisection to the units' resolution: a²·alpha*/((b+d)(c+e)) = tau²·R_AI·R_C* ([F], theorem 1),
  // with a cut of alpha·2^(10−rp_gd) in place of its alpha/2 (rp_gd 11). The paper's cube root for small p
  // is above it: by 19 % for 2 and 58 % for 64 flows with its parameters.
  tl::expected<FixedPoint, NoFixedPoint> fixed_point() const;
  // The same in the equations' units.
  tl::expected<FluidState, NoFixedPoint> equilibrium() const;

  // How DCQCN flows start: at their maximum rate, alpha at its initial value, the queue empty.
  FluidState line_rate_start() const;

  // Right-hand sides: change per second of each variable, without regard to the bounds.
  FluidState slopes(const FluidState& now, const FluidSignal& past) const;
  // `state` moved into what is possible: no negative queue, rates from minimum to maximum.
  FluidState bounded(FluidState state) const;
  // RED on a queue of that many packets: 0..1.
  double marking_at(double queue) const;
  // Its slope between Kmin and Kmax, per packet.
  double marking_slope() const { return highest_marking_ / (kmax_ - kmin_); }

  double flows() const { return flows_; }
  double capacity() const { return capacity_; }                      // C, packets/s
  double loop_delay_seconds() const { return loop_delay_seconds_; }  // tau*
  Bytes bytes(double packets) const;                                 // rounded to the nearest
  BitRate bit_rate(double packets_per_second) const;                 // rounded to the nearest

 private:
  // Events per second of a flow that is seen sending at `past.rate` and marked with `past.marking`.
  struct EventRates {
    double cuts;        // a/tau
    double increases;   // (b+d)·R_C: stages of either counter
    double additions;   // (c+e)·R_C: those after fast recovery
    double alpha_goal;  // what alpha tends to
  };
  EventRates event_rates(const FluidSignal& past) const;
  // The share of the rate that a cut takes.
  double cut_share(double alpha) const;
  // Where the rate stands still at C/N if nothing is bounded: neither marking by Pmax nor rates.
  struct Balance {
    FluidState state;
    double marking;
  };
  Balance balance() const;
  tl::expected<Balance, NoFixedPoint> possible_balance() const;

  double packet_bits_ = 0;
  double flows_ = 0;
  double capacity_ = 0;
  double loop_delay_seconds_ = 0;
  double cnp_interval_ = 0;    // tau, s
  double alpha_interval_ = 0;  // tau', s
  double gain_ = 0;            // g
  double initial_alpha_ = 0;
  double cut_factor_ = 0;       // a cut takes alpha times this
  double deepest_cut_ = 0;      // and at most this share
  double timer_ = 0;            // T, s
  double byte_counter_ = 0;     // B, packets; 0: none
  double recovery_stages_ = 0;  // F
  double addition_ = 0;         // R_AI, packets/s
  double lowest_rate_ = 0;
  double highest_rate_ = 0;
  double kmin_ = 0;  // packets
  double kmax_ = 0;
  double highest_marking_ = 0;  // Pmax
};

}  // namespace rocetune::dcqcn
