// A receive queue of fixed slots over a completion queue and a queue pair that somebody has set up: frames
// are lent from their slots and the slots posted again.
#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "dataplane/verbs/part.h"

namespace rocetune::verbs {

class SnifferQueue final {
 public:
  // `memory`: `slots` pieces of `slot_size` bytes, registered under `local_key`. Both handles must outlive
  // it.
  SnifferQueue(ibv_cq& completions, ibv_qp& pair, wire::MutableBytes memory, std::uint32_t slot_size,
               std::uint32_t local_key)
      : completions_(completions),
        pair_(pair),
        memory_(memory),
        slot_size_(slot_size),
        local_key_(local_key) {}

  // Posts every slot. Error: io.
  Expected<> post_all();
  std::size_t receive(std::span<SniffedFrame> in);
  void release(std::span<const SniffedFrame> done);
  const SnifferCounters& counters() const { return counters_; }

 private:
  int post(std::uint32_t slot);

  ibv_cq& completions_;
  ibv_qp& pair_;
  wire::MutableBytes memory_;
  std::uint32_t slot_size_;
  std::uint32_t local_key_;
  std::vector<std::uint32_t> unposted_;  // slots that the queue did not take back
  SnifferCounters counters_;
};

}  // namespace rocetune::verbs
