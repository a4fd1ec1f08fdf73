#include "congestion/marker.h"

#include "congestion/fixed_point.h"

namespace rocetune {

Ratio RedCurve::probability_at(Bytes queue) const {
  ROCETUNE_ASSERT(minimum >= Bytes(0) && minimum <= maximum);
  ROCETUNE_ASSERT(probability >= Ratio(0) && probability <= Ratio::one());
  if (queue <= minimum) return Ratio(0);
  if (queue > maximum) return Ratio::one();
  return Ratio(mul_div(probability.count(), (queue - minimum).count(), (maximum - minimum).count()));
}

AverageQueue::AverageQueue(int exponent) : exponent_(exponent) {
  ROCETUNE_ASSERT(exponent >= 0 && exponent <= kMaxExponent);
}

void AverageQueue::on_packet(Bytes queue) {
  // An arithmetic shift rounds towards minus infinity, so an average above the queue always falls to it; one
  // below may stay short by less than 2^exponent/2^16 byte.
  scaled_ += ((queue.count() << kFraction) - scaled_) >> exponent_;
}

MarkVerdict Wred::on_packet(Bytes queue, Ecn ecn, std::uint64_t random) {
  queue_.on_packet(queue);
  const Bytes average = queue_.average();
  switch (ecn) {
    case Ecn::ce:
      return MarkVerdict::pass;
    case Ecn::not_ect:
      return profile_.drop_not_ecn && happens(profile_.not_ecn.probability_at(average), random)
                 ? MarkVerdict::drop
                 : MarkVerdict::pass;
    case Ecn::ect0:
    case Ecn::ect1:
      break;
  }
  return happens(profile_.ecn.probability_at(average), random) ? MarkVerdict::mark : MarkVerdict::pass;
}

}  // namespace rocetune
