#include "dataplane/verbs/sniffer_queue.h"

#include <algorithm>
#include <array>

namespace rocetune::verbs {

int SnifferQueue::post(std::uint32_t slot) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory_.data()) + std::uint64_t{slot} * slot_size_;
  piece.length = slot_size_;
  piece.lkey = local_key_;
  ibv_recv_wr request{};
  request.wr_id = slot;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  return ibv_post_recv(&pair_, &request, &refused);
}

Expected<> SnifferQueue::post_all() {
  const auto slots = static_cast<std::uint32_t>(memory_.size() / slot_size_);
  unposted_.reserve(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (const int error = post(slot); error != 0) return fail_os(error, "ibv_post_recv of slot {}", slot);
  }
  return {};
}

std::size_t SnifferQueue::receive(std::span<SniffedFrame> in) {
  // A slot that was refused once is offered again: the queue had no room for it then.
  while (!unposted_.empty() && post(unposted_.back()) == 0) unposted_.pop_back();
  std::array<ibv_wc, 64> done;
  const int most = static_cast<int>(std::min(in.size(), done.size()));
  const int count = ibv_poll_cq(&completions_, most, done.data());
  if (count < 0) {
    ++counters_.errors;
    return 0;
  }
  std::size_t kept = 0;
  for (const ibv_wc& one : std::span(done).first(static_cast<std::size_t>(count))) {
    const auto slot = static_cast<std::uint32_t>(one.wr_id);
    if (one.status != IBV_WC_SUCCESS || one.byte_len > slot_size_) {
      ++counters_.errors;
      unposted_.push_back(slot);
      continue;
    }
    in[kept++] = {memory_.subspan(std::size_t{slot} * slot_size_, one.byte_len), slot};
  }
  counters_.frames += kept;
  return kept;
}

void SnifferQueue::release(std::span<const SniffedFrame> done) {
  for (const SniffedFrame& frame : done) {
    if (post(frame.slot) != 0) unposted_.push_back(frame.slot);
  }
}

}  // namespace rocetune::verbs
