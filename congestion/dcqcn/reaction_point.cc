#include "congestion/dcqcn/reaction_point.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune::dcqcn {
namespace {
using AlphaUpdate = ReactionPointParameters::AlphaUpdate;
using Cut = ReactionPointParameters::Cut;
using HyperIncrease = ReactionPointParameters::HyperIncrease;
}  // namespace

ReactionPoint::ReactionPoint(const ReactionPointParameters& parameters, BitRate line_rate)
    : parameters_(&parameters),
      maximum_(parameters.maximum_rate.is_zero() ? line_rate : std::min(parameters.maximum_rate, line_rate)),
      current_(maximum_),
      target_(maximum_) {
  ROCETUNE_ASSERT(line_rate > BitRate(0));
  ROCETUNE_ASSERT(parameters.minimum_rate > BitRate(0));
  ROCETUNE_ASSERT(parameters.alpha_decay >= 0 && parameters.alpha_decay <= 1024);
  ROCETUNE_ASSERT(parameters.initial_alpha >= 0 && parameters.initial_alpha <= 1024);
  ROCETUNE_ASSERT(parameters.cut_exponent >= 0 && parameters.cut_exponent <= 15);
  ROCETUNE_ASSERT(parameters.alpha_period > Duration(0) && parameters.time_reset > Duration(0));
  ROCETUNE_ASSERT(parameters.cut == Cut::at_once || parameters.rate_reduce_monitor_period > Duration(0));
}

// (1 − g)^periods · alpha by squaring, rounded down at each product: exact enough (2^-30 per step), and a
// flow that was quiet for seconds costs no more than one that was quiet for microseconds.
std::int64_t ReactionPoint::decayed(std::int64_t alpha, std::int64_t periods) const {
  std::int64_t factor = std::int64_t{parameters_->alpha_decay} << 20;
  for (; periods > 0 && alpha > 0; periods >>= 1) {
    if (periods & 1) alpha = alpha * factor >> 30;
    factor = factor * factor >> 30;
  }
  return alpha;
}

std::int64_t ReactionPoint::raised(std::int64_t alpha) const {
  return (alpha * parameters_->alpha_decay >> 10) + (std::int64_t{1024 - parameters_->alpha_decay} << 20);
}

ReactionPoint::Alpha ReactionPoint::alpha_advanced_to(Instant now) const {
  Alpha a{alpha_, alpha_anchor_, alpha_cnp_};
  std::int64_t periods = (now - a.anchor) / parameters_->alpha_period;
  if (periods <= 0) return a;
  a.anchor = a.anchor + parameters_->alpha_period * periods;
  if (a.cnp_seen) {  // only the first of these periods had one: on_cnp advances before it notes another
    a.value = raised(a.value);
    a.cnp_seen = false;
    --periods;
  }
  a.value = decayed(a.value, periods);
  return a;
}

Ratio ReactionPoint::alpha(Instant now) const {
  if (!seen_cnp_) return Ratio(mul_div(parameters_->initial_alpha, Ratio::kOne, 1024));
  return Ratio(mul_div(alpha_advanced_to(now).value, Ratio::kOne, kAlphaOne));
}

void ReactionPoint::first_cnp(Instant now) {
  alpha_ = std::int64_t{parameters_->initial_alpha} << 20;
  alpha_anchor_ = now;
  gate_anchor_ = now;
  seen_cnp_ = true;
}

Instant ReactionPoint::cut_due() const {
  return cut_pending_ ? gate_anchor_ + parameters_->rate_reduce_monitor_period : Instant::never();
}

void ReactionPoint::on_cnp(Instant now) {
  on_timer(now);
  ++counts_.cnps;
  const bool first = !seen_cnp_;
  if (first) {
    first_cnp(now);
  } else {
    const Alpha a = alpha_advanced_to(now);
    alpha_ = a.value;
    alpha_anchor_ = a.anchor;
    alpha_cnp_ = a.cnp_seen;
  }
  if (parameters_->cut == Cut::at_once) {
    const bool may_cut = first || now - gate_anchor_ >= parameters_->rate_reduce_monitor_period;
    if (may_cut) cut(now);
  } else if (!cut_pending_) {
    // Periods run on a grid from the first CNP; the cut comes where the running one ends.
    const Duration period = parameters_->rate_reduce_monitor_period;
    gate_anchor_ = gate_anchor_ + period * ((now - gate_anchor_) / period);
    cut_pending_ = true;
  }
  // After the cut: the paper's order, RC first, then alpha.
  if (parameters_->alpha_update == AlphaUpdate::on_cnp) {
    alpha_ = raised(alpha_);
    alpha_anchor_ = now;
  } else if (!first) {
    alpha_cnp_ = true;  // the first CNP set alpha; it does not also raise it
  }
}

void ReactionPoint::cut(Instant now) {
  ++counts_.cuts;
  const bool clamp = parameters_->clamp_target_rate ||
                     (parameters_->clamp_target_rate_after_time_increase && time_stage_ > 0);
  if (clamp) target_ = current_;
  const std::int64_t old = current_.count();
  if (!limiting_ && !parameters_->rate_on_first_cnp.is_zero()) {
    current_ = std::min(current_, parameters_->rate_on_first_cnp);
  } else {
    // alpha(10 bit) / 2^gd of the rate, with alpha in 2^-30: shift by 20 + gd.
    const auto alpha = alpha_advanced_to(now).value;
    const Wide taken = Wide(old) * alpha >> (20 + parameters_->cut_exponent);
    const std::int64_t floor = mul_div(old, parameters_->minimum_decrease_percent, 100);
    current_ = BitRate(std::max<std::int64_t>(static_cast<std::int64_t>(Wide(old) - taken), floor));
  }
  current_ = std::max(current_, std::min(parameters_->minimum_rate, maximum_));
  target_ = std::max(target_, current_);
  limiting_ = true;
  time_stage_ = 0;
  byte_stage_ = 0;
  bytes_in_stage_ = Bytes(0);
  next_time_stage_ = now + parameters_->time_reset;
  gate_anchor_ = now;
  cut_pending_ = false;
}

// One stage has ended; the counters still say how many ended before it.
void ReactionPoint::increase() {
  const bool has_byte_counter = !parameters_->byte_reset.is_zero();
  const int most = has_byte_counter ? std::max(time_stage_, byte_stage_) : time_stage_;
  const int least = has_byte_counter ? std::min(time_stage_, byte_stage_) : time_stage_;
  const int f = parameters_->threshold;
  if (least > f) {
    const int steps = parameters_->hyper == HyperIncrease::growing ? least - f : 1;
    target_ += parameters_->hyper_increase * steps;
  } else if (most >= f) {
    target_ += parameters_->additive_increase;
  }
  target_ = std::min(target_, maximum_);
  // Rounded up, so that the rate reaches its target and the limiter can go.
  current_ = BitRate((target_.count() + current_.count() + 1) / 2);
  if (current_ == maximum_) {
    limiting_ = false;
    next_time_stage_ = Instant::never();
  }
}

void ReactionPoint::on_bytes_sent(Instant now, Bytes sent) {
  if (!limiting_ || parameters_->byte_reset.is_zero()) return;
  on_timer(now);
  bytes_in_stage_ += sent;
  while (limiting_ && bytes_in_stage_ >= parameters_->byte_reset) {
    bytes_in_stage_ -= parameters_->byte_reset;
    increase();
    ++byte_stage_;
    ++counts_.byte_increases;
  }
}

void ReactionPoint::on_timer(Instant now) {
  // Late calls catch up: each event happens at its own time, in order.
  for (;;) {
    const Instant due = next_timer();
    if (due > now || due == Instant::never()) return;
    if (due == cut_due()) {
      cut(due);
      continue;
    }
    next_time_stage_ = due + parameters_->time_reset;
    increase();
    ++time_stage_;
    ++counts_.time_increases;
  }
}

Instant ReactionPoint::next_timer() const { return std::min(cut_due(), next_time_stage_); }

}  // namespace rocetune::dcqcn
