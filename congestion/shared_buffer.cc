#include "congestion/shared_buffer.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune {

SharedBuffer::Queue SharedBuffer::add_queue(const IngressPoolProfile& profile) {
  ROCETUNE_ASSERT(profile.alpha_exponent >= -7 && profile.alpha_exponent <= 3);
  shared_size_ -= profile.reserve + profile.headroom;
  ROCETUNE_ASSERT(shared_size_ > Bytes(0));
  const auto same = std::ranges::find(profiles_, profile);
  queues_.push_back({.profile = static_cast<std::uint32_t>(same - profiles_.begin())});
  if (same == profiles_.end()) profiles_.push_back(profile);
  return queues_.size() - 1;
}

Bytes LosslessThresholds::beyond_headroom() const {
  ROCETUNE_ASSERT(ports > 0 && priorities > 0);
  return buffer - flight * priorities * ports;
}
Bytes LosslessThresholds::static_pfc() const { return beyond_headroom() / (priorities * ports); }
Bytes LosslessThresholds::static_ecn() const { return static_pfc() / ports; }
Bytes LosslessThresholds::dynamic_ecn(int beta) const {
  ROCETUNE_ASSERT(beta > 0);
  return Bytes(mul_div(beyond_headroom().count(), beta, std::int64_t{priorities} * ports * (beta + 1)));
}
Bytes LosslessThresholds::dynamic_pfc(int beta, Bytes shared_used) const {
  ROCETUNE_ASSERT(beta > 0);
  return Bytes(mul_div((beyond_headroom() - shared_used).count(), beta, priorities));
}

}  // namespace rocetune
