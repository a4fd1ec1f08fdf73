#include "dataplane/engine/transmit_turn.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune::engine {

void TransmitTurn::open() {
  is_open_ = true;
  const PaceOptions& pace = state_->options.pace;
  Pacing& pacing = state_->pairs[row_].pacing;
  BitRate rate;
  std::visit(
      [&](auto& controller) {
        controller.on_timer(now_);
        rate = controller.rate();
        window_ = controller.window();
      },
      *state_->pairs.path(row_).controller);
  is_limited_ = rate < state_->options.line_rate || (!pace.follows_rate && pacing.next_send > now_);
  if (pacing.was_idle) {
    pacing.next_send = std::max(pacing.next_send, now_);
    pacing.was_idle = false;
  } else if (pacing.next_send > now_ && rate != pacing.rate && pace.follows_rate) {
    // The rest of the wait at the new rate.
    const Duration rest = pacing.next_send - now_;
    pacing.next_send = now_ + Duration(mul_div(rest.count(), pacing.rate.count(), rate.count()));
  } else if (is_limited_ && pacing.next_send < now_) {
    pacing.next_send = std::max(pacing.next_send, now_ - transmission_time(pace.catch_up, rate));
  }
  pacing.rate = rate;
  if (!is_limited_) {
    pacing.wake = Instant::never();
    return;
  }
  // A quarter of the timeout for the packets between two that ask anyway.
  const Duration frame_time = transmission_time(Bytes(state_->pairs[row_].mtu()), rate);
  crawls_ = frame_time * (4 * kAckInterval) > state_->pairs[row_].ack_timeout_span();
}

bool TransmitTurn::is_due() {
  Pacing& pacing = state_->pairs[row_].pacing;
  if (pacing.next_send <= now_) {
    pacing.wake = Instant::never();
    return true;
  }
  const auto next_change = [](const auto& controller) { return controller.next_timer(); };
  pacing.wake = std::min(pacing.next_send, std::visit(next_change, *state_->pairs.path(row_).controller));
  return false;
}

void TransmitTurn::space(Bytes frame) {
  Pacing& pacing = state_->pairs[row_].pacing;
  pacing.next_send = pacing.next_send + transmission_time(frame, pacing.rate);
}

void TransmitTurn::end(bool idle) {
  if (!is_open_) return;
  state_->pairs[row_].pacing.was_idle = idle;
  if (sent_ == Bytes(0)) return;
  std::visit([&](auto& controller) { controller.on_bytes_sent(now_, sent_); },
             *state_->pairs.path(row_).controller);
}

}  // namespace rocetune::engine
