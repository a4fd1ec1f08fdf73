#include "congestion/dcqcn/notification_point.h"

namespace rocetune::dcqcn {

bool NotificationPoint::on_packet(Instant now, bool marked) {
  if (parameters_->mode == NotificationPointParameters::Mode::fixed_window) {
    const bool due = on_timer(now);
    if (marked) {
      ++marked_packets_;
      const Duration window = parameters_->minimum_time_between_cnps;
      if (!window_marked_) window_start_ = window_start_ + window * ((now - window_start_) / window);
      window_marked_ = true;
    }
    return due;
  }
  if (!marked) return false;
  ++marked_packets_;
  if (sent_any_ && now - last_cnp_ < parameters_->minimum_time_between_cnps) return false;
  sent_any_ = true;
  last_cnp_ = now;
  ++cnps_;
  return true;
}

bool NotificationPoint::on_timer(Instant now) {
  if (!window_marked_ || now < next_timer()) return false;
  window_marked_ = false;
  ++cnps_;
  return true;
}

Instant NotificationPoint::next_timer() const {
  return window_marked_ ? window_start_ + parameters_->minimum_time_between_cnps : Instant::never();
}

}  // namespace rocetune::dcqcn
