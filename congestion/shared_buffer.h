// A switch's packet buffer: who gets in, what makes it pause, and the thresholds that keep it lossless.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "congestion/units.h"

namespace rocetune {

// How the ingress of one (port, priority) draws on the buffer.
struct IngressPoolProfile {
  Bytes reserve{4096};  // its own, always; HPCC's switch model gives 4 KiB
  Bytes headroom{0};    // for what arrives after Xoff; 0: the class is lossy
  // Dynamic threshold: it may hold alpha × (what is free of the shared pool). A power of two, as switches
  // have it: alpha = 2^alpha_exponent, -7..3 (1/128..8, Broadcom and Spectrum).
  int alpha_exponent = -3;
  Bytes resume_offset{3 * 1024};  // Xon once it is this far below the threshold (HPCC: 3 KiB; paper: two MTU)
  bool operator==(const IngressPoolProfile&) const = default;
};

// Ingress admission with dynamic thresholds (Choudhury and Hahne 1998). A packet goes to the queue's reserve,
// then to the shared pool while the queue is below its threshold, then to the headroom, else it is dropped.
// Lossless queues want Xoff as soon as they touch the threshold.
class SharedBuffer {
 public:
  enum class Room : std::uint8_t { reserve, shared, headroom, dropped };
  using Queue = std::size_t;  // index from add_queue

  explicit SharedBuffer(Bytes size) : size_(size) {}
  void reserve_queues(std::size_t count) { queues_.reserve(count); }  // how many will be added
  // Reserves and headrooms of all queues together must leave a shared pool.
  Queue add_queue(const IngressPoolProfile& profile);
  Room admit(Queue queue, Bytes packet);
  // The packet left. Room is given back in the order headroom, shared, reserve. `packet` must be held.
  void release(Queue queue, Bytes packet);

  // How much of the shared pool `queue` may hold now.
  Bytes threshold(Queue queue) const;
  // True: it must pause its peer (holds headroom, or shared at its threshold). Always false for a lossy
  // queue.
  bool wants_xoff(Queue queue) const;
  // True: a paused peer may go on (headroom empty and shared + resume_offset <= threshold).
  bool allows_xon(Queue queue) const;

  Bytes held(Queue queue) const;
  Bytes shared_free() const { return shared_size_ - shared_used_; }

 private:
  struct State {
    std::uint32_t profile = 0;
    Bytes reserve_used, shared_used, headroom_used;
    Bytes held() const { return reserve_used + shared_used + headroom_used; }
  };
  Bytes threshold(const State& q) const {
    const std::int64_t free = shared_free().count();
    const int exponent = profiles_[q.profile].alpha_exponent;
    return exponent >= 0 ? Bytes(free) * (std::int64_t{1} << exponent) : Bytes(free >> -exponent);
  }
  Bytes size_;
  Bytes shared_size_ = size_;
  Bytes shared_used_;
  std::vector<IngressPoolProfile> profiles_;  // few, that many queues have in common
  std::vector<State> queues_;
};

// What follows is here to be part of its caller's loop: every packet of every switch goes through it.
inline SharedBuffer::Room SharedBuffer::admit(Queue queue, Bytes packet) {
  State& q = queues_[queue];
  const IngressPoolProfile& profile = profiles_[q.profile];
  if (q.reserve_used + packet <= profile.reserve) {
    q.reserve_used += packet;
    return Room::reserve;
  }
  if (q.headroom_used == Bytes(0) && q.shared_used < threshold(q) && packet <= shared_free()) {
    q.shared_used += packet;
    shared_used_ += packet;
    return Room::shared;
  }
  if (q.headroom_used + packet <= profile.headroom) {
    q.headroom_used += packet;
    return Room::headroom;
  }
  return Room::dropped;
}

inline void SharedBuffer::release(Queue queue, Bytes packet) {
  State& q = queues_[queue];
  ROCETUNE_ASSERT(packet <= q.held());
  const auto take = [&packet](Bytes& from) {
    const Bytes taken = from < packet ? from : packet;
    from -= taken;
    packet -= taken;
    return taken;
  };
  take(q.headroom_used);
  shared_used_ -= take(q.shared_used);
  take(q.reserve_used);
}

inline Bytes SharedBuffer::threshold(Queue queue) const { return threshold(queues_[queue]); }

inline bool SharedBuffer::wants_xoff(Queue queue) const {
  const State& q = queues_[queue];
  if (profiles_[q.profile].headroom == Bytes(0)) return false;
  return q.headroom_used > Bytes(0) || q.shared_used >= threshold(q);
}

inline bool SharedBuffer::allows_xon(Queue queue) const {
  const State& q = queues_[queue];
  return q.headroom_used == Bytes(0) &&
         (q.shared_used == Bytes(0) || q.shared_used + profiles_[q.profile].resume_offset <= threshold(q));
}

inline Bytes SharedBuffer::held(Queue queue) const { return queues_[queue].held(); }

// Thresholds so that ECN acts before PFC and PFC before loss, for a switch of `ports` equal ports.
// Source: DCQCN, SIGCOMM 2015, section 4 (Trident II: 12 MB, 32 × 40 Gb/s). All results round down.
struct LosslessThresholds {
  Bytes buffer{12'000'000};
  int ports = 32;
  int priorities = 8;
  Bytes flight{22'400};  // headroom per port and priority: what arrives after Xoff

  // The largest static PFC threshold that leaves every headroom free: (B − p·n·flight)/(p·n).
  Bytes static_pfc() const;
  // With it, ECN must act on one egress queue before all ingress ports can reach it: below static_pfc/n.
  Bytes static_ecn() const;
  // Dynamic threshold with factor beta: ECN below beta·(B − p·n·flight)/(p·n·(beta+1)). beta must be
  // positive.
  Bytes dynamic_ecn(int beta) const;
  // Dynamic PFC threshold when `shared_used` bytes are in use: beta·(B − p·n·flight − s)/p.
  Bytes dynamic_pfc(int beta, Bytes shared_used) const;

 private:
  Bytes beyond_headroom() const;
};

}  // namespace rocetune
