#include "congestion/shared_buffer.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune {

SharedBuffer::Queue SharedBuffer::add_queue(const IngressPoolProfile& profile) {
  ROCETUNE_ASSERT(profile.alpha_exponent >= -7 && profile.alpha_exponent <= 3);
  shared_size_ -= profile.reserve + profile.headroom;
  ROCETUNE_ASSERT(shared_size_ > Bytes(0));
  queues_.push_back(State{.profile = profile});
  return queues_.size() - 1;
}

Bytes SharedBuffer::threshold(Queue queue) const {
  const int exponent = queues_[queue].profile.alpha_exponent;
  const std::int64_t free = shared_free().count();
  return exponent >= 0 ? Bytes(free) * (std::int64_t{1} << exponent) : Bytes(free >> -exponent);
}

SharedBuffer::Room SharedBuffer::admit(Queue queue, Bytes packet) {
  State& q = queues_[queue];
  Room room = Room::dropped;
  if (q.reserve_used + packet <= q.profile.reserve) {
    q.reserve_used += packet;
    room = Room::reserve;
  } else if (q.headroom_used == Bytes(0) && q.shared_used < threshold(queue) && packet <= shared_free()) {
    q.shared_used += packet;
    shared_used_ += packet;
    room = Room::shared;
  } else if (q.headroom_used + packet <= q.profile.headroom) {
    q.headroom_used += packet;
    room = Room::headroom;
  } else {
    ++q.drops;
  }
  q.peak = std::max(q.peak, held(queue));
  return room;
}

void SharedBuffer::release(Queue queue, Bytes packet) {
  State& q = queues_[queue];
  ROCETUNE_ASSERT(packet <= held(queue));
  const auto take = [&packet](Bytes& from) {
    const Bytes taken = std::min(from, packet);
    from -= taken;
    packet -= taken;
    return taken;
  };
  take(q.headroom_used);
  shared_used_ -= take(q.shared_used);
  take(q.reserve_used);
}

bool SharedBuffer::wants_xoff(Queue queue) const {
  const State& q = queues_[queue];
  if (q.profile.headroom == Bytes(0)) return false;
  return q.headroom_used > Bytes(0) || q.shared_used >= threshold(queue);
}

bool SharedBuffer::allows_xon(Queue queue) const {
  const State& q = queues_[queue];
  return q.headroom_used == Bytes(0) &&
         (q.shared_used == Bytes(0) || q.shared_used + q.profile.resume_offset <= threshold(queue));
}

Bytes SharedBuffer::held(Queue queue) const {
  const State& q = queues_[queue];
  return q.reserve_used + q.shared_used + q.headroom_used;
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
