// The reaction point: the sender's half of DCQCN, one per queue pair. Cuts on CNPs, recovers by a timer and a
// byte counter. All state is integer: rates in bit/s, alpha in 2^-30.
#pragma once

#include "congestion/controller.h"
#include "congestion/dcqcn/parameters.h"

namespace rocetune::dcqcn {

class ReactionPoint {
 public:
  // The flow starts at the smaller of line rate and maximum_rate: DCQCN has no slow start. `parameters` must
  // outlive the reaction point (one set serves all queue pairs of an endpoint).
  ReactionPoint(const ReactionPointParameters& parameters, BitRate line_rate);

  void on_cnp(Instant now);
  void on_ack(Instant, const AckSample&) {}
  void on_bytes_sent(Instant now, Bytes sent);
  void on_loss(Instant) {}  // mlx5's slow restart after loss is a separate mechanism, not modelled
  void on_timer(Instant now);
  Instant next_timer() const;
  BitRate rate() const { return current_; }
  std::optional<Bytes> window() const { return std::nullopt; }

  BitRate target_rate() const { return target_; }
  // Alpha as it would be used by a CNP at `now`. One is Ratio::one().
  Ratio alpha(Instant now) const;
  // A rate limiter is allocated: from the first CNP until the rate is back at its maximum.
  bool is_limiting() const { return limiting_; }

  struct Counts {
    std::int64_t cnps = 0;  // rp_cnp_handled counts the same event
    std::int64_t cuts = 0;
    std::int64_t time_increases = 0;
    std::int64_t byte_increases = 0;
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }

 private:
  static constexpr std::int64_t kAlphaOne = std::int64_t{1} << 30;

  // Alpha with all whole periods up to `now` applied, and the instant it then stands at.
  struct Alpha {
    std::int64_t value;
    Instant anchor;
    bool cnp_seen;
  };
  Alpha alpha_advanced_to(Instant now) const;
  std::int64_t decayed(std::int64_t alpha, std::int64_t periods) const;
  std::int64_t raised(std::int64_t alpha) const;
  void first_cnp(Instant now);
  void cut(Instant now);
  void increase();
  Instant cut_due() const;

  const ReactionPointParameters* parameters_;
  BitRate maximum_;
  BitRate current_;
  BitRate target_;
  std::int64_t alpha_ = 0;
  Instant alpha_anchor_;  // alpha_ is exact here
  Instant gate_anchor_;   // end_of_period: a period starts here; at_once: the last cut
  Instant next_time_stage_ = Instant::never();
  Bytes bytes_in_stage_;
  int time_stage_ = 0;
  int byte_stage_ = 0;
  bool seen_cnp_ = false;   // ever
  bool alpha_cnp_ = false;  // in the running alpha period
  bool cut_pending_ = false;
  bool limiting_ = false;
  Counts counts_;
};
static_assert(RateController<ReactionPoint>);

}  // namespace rocetune::dcqcn
