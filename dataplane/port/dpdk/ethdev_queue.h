// One receive and one transmit queue of an Ethernet device.
#pragma once

#include <rte_mbuf.h>

#include "dataplane/port/dpdk/queue_group.h"

namespace rocetune::dpdk {

class EthdevQueue final : public GroupMember {
 public:
  // The pool's buffers hold `capabilities.largest_frame` each, or more.
  EthdevQueue(std::uint16_t port, std::uint16_t index, rte_mempool* transmit_pool,
              const port::Capabilities& capabilities)
      : port_(port), index_(index), pool_(transmit_pool), capabilities_(capabilities) {}

  std::size_t receive(std::span<port::ReceivedFrame> in) override;
  void release(std::span<const port::ReceivedFrame> done) override;
  std::size_t reserve(std::span<port::TransmitBuffer> out) override;
  std::size_t transmit(Instant now, std::span<const port::TransmitBuffer> filled) override;
  void discard(std::span<const port::TransmitBuffer> filled) override;
  const port::Capabilities& capabilities() const override { return capabilities_; }
  port::PortCounters counters() override;
  std::size_t room() const override { return kMaxWaiting - waiting_count_; }

 private:
  // Frames that wait for room in the device's ring: backpressure instead of loss while it moves at all.
  static constexpr std::size_t kMaxWaiting = 2 * port::kMaxBurst;
  // How long a ring that takes nothing is waited for: the process at the other end of a memif may have lost
  // its core, or this one. With the link down nobody will ever fetch them.
  static constexpr Duration kPatience = seconds(1);
  static constexpr Duration kPatienceWithoutLink = milliseconds(10);

  void send_waiting();
  bool has_link() const;
  void drop_stalled(Instant now);

  std::uint16_t port_;
  std::uint16_t index_;
  rte_mempool* pool_;
  const port::Capabilities& capabilities_;
  std::array<rte_mbuf*, kMaxWaiting> waiting_{};
  std::size_t waiting_count_ = 0;
  std::size_t waiting_sent_ = 0;  // of the last call
  Instant look_at_link_;          // not before, while frames wait
  Instant moved_;                 // when the ring last took a frame, or had none to take
  port::PortCounters counters_;
};

}  // namespace rocetune::dpdk
