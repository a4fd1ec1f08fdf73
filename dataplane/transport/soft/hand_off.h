// Frames that landed on the wrong core. Queue pairs belong to shards, one per core, and their numbers say so;
// a NIC spreads frames by a hash that knows nothing of that. The core that receives another's frame passes
// it on, buffer and all, and the other gives the buffer back.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/port/packet_port.h"

namespace rocetune::soft {

// The queue pair that a RoCE v2 frame is for; none for every other frame. Looks at a few bytes only: whether
// the packet is right is the endpoint's business.
std::optional<std::uint32_t> destination_of(wire::ConstBytes frame);

// One ring from each shard to each other. Ports' release() must be callable from every shard's thread.
class HandOff {
 public:
  static constexpr std::size_t kRingSize = 1024;  // frames on their way between two cores
  explicit HandOff(std::uint32_t shards);

  // The shard that the frame belongs to; `here` if nobody else's.
  std::uint32_t owner_of(wire::ConstBytes frame, std::uint32_t here) const;
  // By the thread of `from`. False: the ring is full, the frame still belongs to the caller.
  bool give(std::uint32_t from, std::uint32_t to, const port::ReceivedFrame& frame);
  // By the thread of `to`: up to out.size() frames, whoever gave them; how many.
  std::size_t take(std::uint32_t to, std::span<port::ReceivedFrame> out);

 private:
  struct Ring {
    std::vector<port::ReceivedFrame> places{kRingSize};
    alignas(64) std::atomic<std::size_t> tail{0};  // written by the giver
    alignas(64) std::atomic<std::size_t> head{0};  // written by the taker
  };
  Ring& ring(std::uint32_t from, std::uint32_t to) { return *rings_[from * shards_ + to]; }

  std::uint32_t shards_;
  int shift_;  // of a queue pair's number, down to its shard
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace rocetune::soft
