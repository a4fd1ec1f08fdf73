#include "congestion/controllers/timely.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune {

Timely::Timely(const TimelyParameters& parameters, BitRate line_rate)
    : parameters_(&parameters), line_rate_(line_rate), rate_(line_rate) {
  ROCETUNE_ASSERT(line_rate > BitRate(0) && of_line_rate(parameters.minimum_rate) > BitRate(0));
  ROCETUNE_ASSERT(parameters.least_left >= Ratio(0) && parameters.least_left <= Ratio::one());
  ROCETUNE_ASSERT(parameters.minimum_rtt > Duration(0) && parameters.low <= parameters.high);
  ROCETUNE_ASSERT(parameters.ewma >= Ratio(0) && parameters.ewma <= Ratio::one());
}

Ratio Timely::gradient() const {
  return Ratio(mul_div(difference_.count(), Ratio::kOne, parameters_->minimum_rtt.count()));
}

BitRate Timely::of_line_rate(Ratio share) const {
  return BitRate(mul_div(line_rate_.count(), share.count(), Ratio::kOne));
}

void Timely::add(int steps) { rate_ += of_line_rate(parameters_->additive) * steps; }

// Not further than least_left: a queue that fills within one sample, as in every incast, makes the gradient a
// multiple of one, and the factor that algorithm 1 computes of it negative.
void Timely::scale(Ratio factor) {
  rate_ = BitRate(mul_div(rate_.count(), std::max(factor, parameters_->least_left).count(), Ratio::kOne));
}

void Timely::on_ack(Instant, const AckSample& sample) {
  if (!sample.rtt || *sample.rtt <= Duration(0)) return;
  const Duration rtt = *sample.rtt;
  if (!previous_) {
    previous_ = rtt;
    return;
  }
  const Duration change = rtt - *previous_;
  previous_ = rtt;
  const std::int64_t old_weight = Ratio::kOne - parameters_->ewma.count();
  difference_ = Duration(mul_div(difference_.count(), old_weight, Ratio::kOne) +
                         mul_div(change.count(), parameters_->ewma.count(), Ratio::kOne));
  falling_ = difference_ <= Duration(0) ? std::min(falling_ + 1, parameters_->hyper_after) : 0;

  if (rtt < parameters_->low) {
    add(1);
  } else if (rtt > parameters_->high) {
    const Ratio over(mul_div((rtt - parameters_->high).count(), parameters_->beta.count(), rtt.count()));
    scale(Ratio::one() - over);
  } else if (difference_ <= Duration(0)) {
    add(falling_ >= parameters_->hyper_after ? parameters_->hyper_factor : 1);
  } else {
    scale(Ratio::one() - Ratio(mul_div(parameters_->beta.count(), gradient().count(), Ratio::kOne)));
  }
  rate_ = std::clamp(rate_, of_line_rate(parameters_->minimum_rate), line_rate_);
}

}  // namespace rocetune
