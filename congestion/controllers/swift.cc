#include "congestion/controllers/swift.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune {
namespace {
constexpr std::int64_t kPacket = std::int64_t{1} << Swift::kWindowFraction;

// 1/sqrt(packets) in parts per billion, for a window in 2^-20 packets.
std::int64_t inverse_sqrt(std::int64_t window) {
  const std::int64_t root = integer_sqrt(window << Swift::kWindowFraction);  // sqrt(w)·2^20
  return mul_div(Ratio::kOne, kPacket, std::max<std::int64_t>(root, 1));
}
std::int64_t from_thousandths(std::int64_t packets) { return mul_div(packets, kPacket, 1000); }
}  // namespace

Swift::Swift(const SwiftParameters& parameters, BitRate line_rate)
    : parameters_(&parameters),
      line_rate_(line_rate),
      window_(mul_div(bytes_within(parameters.base_target, line_rate).count(), kPacket,
                      parameters.packet.count())),
      rtt_(parameters.base_target) {
  ROCETUNE_ASSERT(line_rate > BitRate(0) && parameters.base_target > Duration(0));
  ROCETUNE_ASSERT(parameters.packet > Bytes(0));
  ROCETUNE_ASSERT(parameters.minimum_window > 0 && parameters.minimum_window <= parameters.maximum_window);
  ROCETUNE_ASSERT(parameters.flow_scaling_minimum > 0 &&
                  parameters.flow_scaling_minimum < parameters.flow_scaling_maximum);
  clamp();
}

void Swift::clamp() {
  window_ = std::clamp(window_, std::max<std::int64_t>(1, from_thousandths(parameters_->minimum_window)),
                       from_thousandths(parameters_->maximum_window));
}

// Flow scaling: alpha/sqrt(cwnd) + beta, chosen so that it is fs_range at the minimum window and 0 at the
// maximum; i.e. the share of fs_range by which 1/sqrt(cwnd) lies between its two ends.
Duration Swift::target_delay() const {
  const std::int64_t low = inverse_sqrt(from_thousandths(parameters_->flow_scaling_maximum));
  const std::int64_t high = inverse_sqrt(from_thousandths(parameters_->flow_scaling_minimum));
  const std::int64_t here = std::clamp(inverse_sqrt(window_), low, high);
  const Duration scaling(mul_div(parameters_->flow_scaling_range.count(), here - low, high - low));
  return parameters_->base_target + parameters_->per_hop * parameters_->hops + scaling;
}

void Swift::on_ack(Instant now, const AckSample& sample) {
  if (!sample.rtt || *sample.rtt <= Duration(0)) return;
  rtt_ = *sample.rtt;
  const Duration target = target_delay();
  if (rtt_ < target) {
    // ai packets per round trip: ai/cwnd for every acknowledged packet, or ai itself below one packet.
    const std::int64_t acked = mul_div(sample.acked.count(), kPacket, parameters_->packet.count());
    const std::int64_t step = mul_div(acked, parameters_->additive_increase.count(), Ratio::kOne);
    window_ += window_ >= kPacket ? mul_div(step, kPacket, window_) : step;
    clamp();
    return;
  }
  const std::int64_t excess = mul_div((rtt_ - target).count(), parameters_->beta.count(), rtt_.count());
  decrease(now, std::max(Ratio::one() - Ratio(excess), Ratio::one() - parameters_->maximum_decrease));
}

void Swift::on_loss(Instant now) { decrease(now, Ratio::one() - parameters_->maximum_decrease); }

void Swift::decrease(Instant now, Ratio keep) {
  if (has_decreased_ && now - last_decrease_ < rtt_) return;
  window_ = mul_div(window_, keep.count(), Ratio::kOne);
  clamp();
  has_decreased_ = true;
  last_decrease_ = now;
}

BitRate Swift::rate() const {
  // window/2^20 packets · packet bytes · 8 bits per rtt picoseconds.
  const Wide bits = Wide(window_) * parameters_->packet.bits();
  const auto rate = static_cast<std::int64_t>(
      std::min<Wide>(bits * 1'000'000'000'000 / (Wide(rtt_.count()) << kWindowFraction), line_rate_.count()));
  return BitRate(std::max<std::int64_t>(rate, 1));
}

std::optional<Bytes> Swift::window() const {
  return std::max(parameters_->packet, Bytes(mul_div(window_, parameters_->packet.count(), kPacket)));
}

}  // namespace rocetune
