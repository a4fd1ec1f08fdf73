// The congestion point: the switch's part of DCQCN, one per egress queue. RED marking on the queue's length
// as it is, without averaging, at the moment the parameters name.
#pragma once

#include "congestion/dcqcn/parameters.h"
#include "congestion/marker.h"

namespace rocetune::dcqcn {

class CongestionPoint {
 public:
  explicit CongestionPoint(const CongestionPointParameters& parameters)
      : mark_at_(parameters.mark_at),
        wred_(WredProfile{.ecn = parameters.curve, .not_ecn = parameters.curve}) {}

  // `queue` is the bytes that wait, without this packet. `random`: 64 uniformly random bits of
  // the switch's stream. True: set CE. The call for the other moment than the configured one does nothing.
  bool on_enqueue(Bytes queue, Ecn ecn, std::uint64_t random) {
    return decide(MarkAt::enqueue, queue, ecn, random);
  }
  bool on_dequeue(Bytes queue, Ecn ecn, std::uint64_t random) {
    return decide(MarkAt::dequeue, queue, ecn, random);
  }
  std::int64_t marked() const { return marked_; }

 private:
  using MarkAt = CongestionPointParameters::MarkAt;
  bool decide(MarkAt at, Bytes queue, Ecn ecn, std::uint64_t random) {
    if (at != mark_at_ || wred_.on_packet(queue, ecn, random) != MarkVerdict::mark) return false;
    ++marked_;
    return true;
  }

  MarkAt mark_at_;
  Wred wred_;
  std::int64_t marked_ = 0;
};

}  // namespace rocetune::dcqcn
