// The notification point: the receiver's half of DCQCN, one per flow. Decides when marks become a CNP.
#pragma once

#include "congestion/dcqcn/parameters.h"

namespace rocetune::dcqcn {

class NotificationPoint {
 public:
  // `parameters` must outlive it. Fixed windows are counted from `start`.
  explicit NotificationPoint(const NotificationPointParameters& parameters, Instant start = Instant())
      : parameters_(&parameters), window_start_(start) {}

  // A data packet of the flow arrived; `marked`: with CE. True: send a CNP now.
  bool on_packet(Instant now, bool marked);
  // Fixed-window mode: true if the window that ended had a mark. False and harmless in event mode.
  bool on_timer(Instant now);
  Instant next_timer() const;

  std::int64_t marked_packets() const { return marked_packets_; }  // np_ecn_marked_roce_packets
  std::int64_t cnps() const { return cnps_; }                      // np_cnp_sent

 private:
  const NotificationPointParameters* parameters_;
  Instant window_start_;  // fixed_window
  Instant last_cnp_;      // event
  bool sent_any_ = false;
  bool window_marked_ = false;
  std::int64_t marked_packets_ = 0;
  std::int64_t cnps_ = 0;
};

}  // namespace rocetune::dcqcn
