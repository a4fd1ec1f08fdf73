// Every parameter of DCQCN, typed, with named sets. Names follow mlx5 (debugfs cc_params, mlxconfig), which
// is what operators can set; the table in parameter_table.h gives unit, range, defaults and origin of each.
//
// Three structs, because the three parts live on three machines: the reaction point (RP) in the sender's NIC,
// the notification point (NP) in the receiver's, the congestion point (CP) in the switch.
//
// Sources: [P] Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015; [F] Zhu et
// al., "ECN or Delay", CoNEXT 2016; [M] NVIDIA "DCQCN CC parameters" and a mlxconfig dump of a ConnectX card;
// [H] the HPCC authors' ns-3 model; [Q] IEEE 802.1Qau, whose reaction point DCQCN took over.
#pragma once

#include "congestion/marker.h"
#include "congestion/units.h"

namespace rocetune::dcqcn {

struct ReactionPointParameters {
  // When alpha moves.
  enum class AlphaUpdate : std::uint8_t {
    on_cnp,    // up at every CNP; down after every `alpha_period` without one [P]
    periodic,  // at the end of every `alpha_period`: up if a CNP came within it, else down [M, H]
  };
  // When a CNP cuts the rate.
  enum class Cut : std::uint8_t {
    at_once,        // at the CNP, unless the last cut is younger than `rate_reduce_monitor_period` [P]
    end_of_period,  // at the end of the monitor period in which it came [H]
  };
  // How much the target grows in the i-th step of hyper increase.
  enum class HyperIncrease : std::uint8_t {
    constant,  // R_HAI [M, H]
    growing,   // i · R_HAI [Q]
  };

  bool clamp_target_rate = false;  // rp_clamp_tgt_rate: RT := RC at every cut
  bool clamp_target_rate_after_time_increase =
      true;                                // rp_clamp_tgt_rate_ati: only if the timer raised RC since
  Duration time_reset{microseconds(300)};  // rp_time_reset: T, one timer stage
  Bytes byte_reset{32767};                 // rp_byte_reset: B, one byte stage; 0: no byte counter
  int threshold = 1;                       // rp_threshold: F, stages of fast recovery
  BitRate additive_increase{megabits_per_second(5)};     // rp_ai_rate: R_AI
  BitRate hyper_increase{megabits_per_second(50)};       // rp_hai_rate: R_HAI
  BitRate maximum_rate{0};                               // rp_max_rate; 0: line rate
  int minimum_decrease_percent = 50;                     // rp_min_dec_fac: a cut leaves at least this share
  BitRate minimum_rate{megabits_per_second(1)};          // rp_min_rate
  BitRate rate_on_first_cnp{0};                          // rp_rate_to_set_on_first_cnp; 0: an ordinary cut
  int alpha_decay = 1019;                                // rp_dce_tcp_g: (1 − g) in 1/1024
  Duration alpha_period{microseconds(1)};                // rp_dce_tcp_rtt: K
  Duration rate_reduce_monitor_period{microseconds(4)};  // rp_rate_reduce_monitor_period
  int initial_alpha = 1023;                              // rp_initial_alpha_value, in 1/1024
  int cut_exponent = 11;                                 // rp_gd: a cut takes alpha(10 bit)/2^gd; 11: alpha/2
  AlphaUpdate alpha_update = AlphaUpdate::periodic;
  Cut cut = Cut::at_once;
  HyperIncrease hyper = HyperIncrease::constant;
  bool operator==(const ReactionPointParameters&) const = default;
};

struct NotificationPointParameters {
  enum class Mode : std::uint8_t {
    event,         // answer a mark at once, then stay quiet for the minimum time: what NICs do
    fixed_window,  // one CNP at the end of each window that had a mark: what the fluid equations assume [F]
  };
  Duration minimum_time_between_cnps{microseconds(4)};  // np_min_time_between_cnps: N
  Dscp cnp_dscp{48};                                    // np_cnp_dscp
  Priority cnp_priority{6};                             // np_cnp_prio
  Mode mode = Mode::event;
  bool operator==(const NotificationPointParameters&) const = default;
};

struct CongestionPointParameters {
  RedCurve curve;  // Kmin, Kmax, Pmax; set on the switch
  // Which queue length decides: the one a packet finds (enqueue) or leaves behind (dequeue).
  enum class MarkAt : std::uint8_t { enqueue, dequeue };
  MarkAt mark_at = MarkAt::dequeue;
  bool operator==(const CongestionPointParameters&) const = default;
};

struct Parameters {
  ReactionPointParameters rp;
  NotificationPointParameters np;
  CongestionPointParameters cp;
  bool operator==(const Parameters&) const = default;

  // What ConnectX firmware ships [M]. CP, which is not in a NIC, from [H] for 100 Gb/s.
  static Parameters mlx5();
  // The SIGCOMM 2015 paper's, for 40 Gb/s [P].
  static Parameters paper();
  // The semantics and "mlx" values of the HPCC authors' simulator at 100 Gb/s [H]: CE is echoed in ACKs (let
  // the NP answer every mark), cuts wait for a gate, no byte counter.
  static Parameters hpcc();
};

}  // namespace rocetune::dcqcn
