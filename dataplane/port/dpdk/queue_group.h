// Several queues as one, as a learning switch would join them: one process that is the server end of several
// memifs, or has several NICs on one network.
#pragma once

#include <vector>

#include "dataplane/port/dpdk/part.h"

namespace rocetune::dpdk {

// What one queue must do to be a member: lend less when its ring is full, so that the group can.
class GroupMember : public Queue {
 public:
  // Frames that reserve() would lend at most now.
  virtual std::size_t room() const = 0;

 protected:
  ~GroupMember() = default;
};

class QueueGroup final : public Queue {
 public:
  // `members` must outlive the group; at least one. Buffers are those of the first: members must take each
  // other's.
  explicit QueueGroup(std::vector<GroupMember*> members);

  std::size_t receive(std::span<port::ReceivedFrame> in) override;
  void release(std::span<const port::ReceivedFrame> done) override { members_.front()->release(done); }
  std::size_t reserve(std::span<port::TransmitBuffer> out) override;
  // To the member that the destination was last heard on; to all if it never was, or is a group address.
  std::size_t transmit(Instant now, std::span<const port::TransmitBuffer> filled) override;
  void discard(std::span<const port::TransmitBuffer> filled) override { members_.front()->discard(filled); }
  // The first member's, under all their names; the least of their largest frames.
  const port::Capabilities& capabilities() const override { return capabilities_; }
  port::PortCounters counters() override;

 private:
  static constexpr std::size_t kStations = 64;  // addresses remembered; beyond, frames go to all
  struct Station {
    std::uint64_t mac = 0;
    std::size_t member = 0;
  };
  void learn(std::uint64_t source, std::size_t member);
  const Station* find(std::uint64_t mac) const;
  void flood(const port::TransmitBuffer& buffer);

  std::vector<GroupMember*> members_;
  port::Capabilities capabilities_;
  std::vector<Station> stations_;
  std::size_t next_ = 0;  // member that receive() asks first
  std::vector<std::vector<port::TransmitBuffer>> batches_;
};

}  // namespace rocetune::dpdk
