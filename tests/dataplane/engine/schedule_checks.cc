// What must hold in every schedule.
#include <fmt/core.h>

#include <cstring>

#include "tests/dataplane/engine/schedule.h"

namespace rocetune::engine {
void Schedule::paint(Side& side, std::uint32_t slot, std::uint64_t color) {
  for (std::vector<std::byte>* bytes : {&side.bytes, &side.shadow}) {
    const auto out = place(*bytes, slot, kSlot);
    for (std::size_t i = 0; i < kSlot / 8; ++i) {
      const std::uint64_t word = pigment(color, i);
      std::memcpy(out.data() + 8 * i, &word, 8);
    }
  }
}

bool Schedule::is_painted(const Side& side, std::uint32_t slot, std::uint32_t length,
                          std::uint64_t color) const {
  const std::byte* at = side.bytes.data() + std::size_t{slot} * kSlot;
  for (std::uint32_t i = 0; i < length; ++i) {
    if (at[i] != static_cast<std::byte>(pigment(color, i / 8) >> (8 * (i % 8)) & 0xFF)) return false;
  }
  return true;
}

void Schedule::broken(std::string what) {
  if (broken_.empty()) broken_ = fmt::format("at {}: {}", to_text(now_.since_origin()), what);
}

void Schedule::collect(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  Completion completion;
  while (side.endpoint.poll_completion(completion)) {
    ++coverage_.statuses[static_cast<std::size_t>(completion.status)];
    if (completion.qpn != side.qpn) broken("completion of another queue pair");
    if (completion.kind >= CompletionKind::receive) {
      on_received(index, completion);
    } else {
      on_send_done(index, completion);
    }
  }
}

void Schedule::on_send_done(int index, const Completion& completion) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  while (side.next_done < side.operations.size() && side.operations[side.next_done].is_done) ++side.next_done;
  if (side.next_done == side.operations.size() || completion.work_id != side.next_done ||
      !side.operations[side.next_done].is_posted) {
    return broken(
        fmt::format("side {}: request {} completes, {} was next", index, completion.work_id, side.next_done));
  }
  Operation& operation = side.operations[side.next_done++];
  operation.is_done = true;
  for (const auto& [leaves, frame] : side.ring) {
    if (frame.payload.length > 0 && frame.payload.offset / kSlot == kSource + completion.work_id) {
      return broken(fmt::format("side {}: request {} completes while its memory is referred to", index,
                                completion.work_id));
    }
  }
  if (completion.status != CompletionStatus::success) return;
  operation.has_succeeded = true;
  if (operation.is_bad)
    return broken(fmt::format("side {}: bad request {} succeeds", index, completion.work_id));
  Side& peer = peer_of(index);
  const auto i = static_cast<std::uint32_t>(completion.work_id);
  const std::uint32_t length = operation.request.local.length;
  const std::uint64_t color = color_of(index);
  switch (operation.request.kind) {
    case SendKind::write:
      if (!is_painted(peer, kWritten + i, length, color + kSource + i)) {
        return broken(fmt::format("side {}: WRITE {} arrived wrong", index, i));
      }
      paint(peer, kWritten + i, kScribble);
      break;
    case SendKind::read:
      if (!is_painted(side, kSource + i, length, color_of(1 - index) + kReadable)) {
        return broken(fmt::format("side {}: READ {} got the wrong bytes", index, i));
      }
      break;
    case SendKind::send:
      if (!operation.is_received) return broken(fmt::format("side {}: SEND {} done, not received", index, i));
      break;
    case SendKind::compare_swap:
    case SendKind::fetch_add:
      check_atomic(side, operation);
      break;
  }
  // Its memory is its owner's again: whatever is sent or written from now on shows.
  paint(side, kSource + i, kScribble + 1);
}

// One side alone changes the peer's words, so each result is known.
void Schedule::check_atomic(Side& side, const Operation& operation) {
  const SendRequest& request = operation.request;
  std::uint64_t& word = side.model[request.remote_address / 8 % 2];
  std::uint64_t original = 0;
  std::memcpy(&original, side.bytes.data() + (kSource + request.work_id) * kSlot, 8);
  if (original != word)
    broken(fmt::format("atomic {} returned {:#x}, not {:#x}", request.work_id, original, word));
  if (request.kind == SendKind::fetch_add) {
    word += request.swap_or_add;
  } else if (word == request.compare) {
    word = request.swap_or_add;
  }
}

void Schedule::on_received(int index, const Completion& completion) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  while (side.next_received < side.receives.size() && side.receives[side.next_received].is_done) {
    ++side.next_received;
  }
  if (completion.work_id != side.next_received || side.next_received == side.receives.size()) {
    return broken(fmt::format("side {}: receive {} completes, {} was next", index, completion.work_id,
                              side.next_received));
  }
  Receive& receive = side.receives[side.next_received++];
  receive.is_done = true;
  if (completion.status != CompletionStatus::success) return;
  receive.is_open = false;
  Side& peer = peer_of(index);
  while (side.next_arrival < peer.operations.size() &&
         !takes_receive(peer.operations[side.next_arrival].request)) {
    ++side.next_arrival;
  }
  if (side.next_arrival == peer.operations.size()) return broken("received what was never sent");
  Operation& operation = peer.operations[side.next_arrival];
  const auto i = static_cast<std::uint32_t>(side.next_arrival++);
  const SendRequest& request = operation.request;
  operation.is_received = true;
  const bool is_send = request.kind == SendKind::send;
  if (completion.length != request.local.length || completion.has_immediate != request.has_immediate ||
      (request.has_immediate && completion.immediate != request.immediate) ||
      completion.is_solicited != request.solicited ||
      completion.kind != (is_send ? CompletionKind::receive : CompletionKind::receive_immediate)) {
    return broken(
        fmt::format("side {}: receive {} is not request {} of the peer", index, completion.work_id, i));
  }
  const std::uint64_t color = color_of(1 - index) + kSource + i;
  const auto at = is_send ? kReceived + static_cast<std::uint32_t>(completion.work_id) : kWritten + i;
  if (!is_painted(side, at, request.local.length, color)) {
    return broken(fmt::format("side {}: receive {} has the wrong bytes", index, completion.work_id));
  }
  if (is_send) paint(side, at, kScribble + 2);
}

// Nothing moves any more: without an excuse every request has succeeded.
void Schedule::check_rest() {
  // A fault may cost two retries: the silence after a lost answer, and an acknowledgement that shows the gap
  // just after that (one that only brings credits, say).
  const bool excused = may_fail_ || 2 * faults_ > parameters_.retry_count || parameters_.rnr_retry != 7;
  for (int index : {0, 1}) {
    Side& side = sides_[static_cast<std::size_t>(index)];
    const QueuePairState state = side.endpoint.state(side.qpn);
    if (state != QueuePairState::connected) {
      if (!excused) {
        broken(fmt::format("side {}: failed without a reason: {} faults, retry count {}, depth {}{}{}", index,
                           faults_, parameters_.retry_count, parameters_.initiator_depth,
                           parameters_.end_to_end_credits ? ", credits" : "",
                           parameters_.selective_repeat ? ", selective repeat" : ""));
      }
      continue;
    }
    for (std::size_t i = 0; i < side.operations.size(); ++i) {
      if (!side.operations[i].is_done) broken(fmt::format("side {}: request {} is stuck", index, i));
    }
  }
}

void Schedule::flush_and_check_all() {
  for (int index : {0, 1}) {
    Side& side = sides_[static_cast<std::size_t>(index)];
    ROCETUNE_ASSERT(side.endpoint.fail(side.qpn).has_value());
    collect(index);
    for (std::size_t i = 0; i < side.operations.size(); ++i) {
      if (!side.operations[i].is_done) broken(fmt::format("side {}: request {} never completed", index, i));
    }
    for (std::size_t i = 0; i < side.receives.size(); ++i) {
      if (!side.receives[i].is_done) broken(fmt::format("side {}: receive {} never completed", index, i));
    }
    if (side.endpoint.has_frames() && side.endpoint.poll_transmit(now_, {}) != 0) broken("sends in error");
  }
}

// Bytes that nothing may have changed are what they were; what a failed request may have changed in part is
// left out.
void Schedule::check_memory(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  const Side& peer = peer_of(index);
  std::vector<bool> is_open(kEnd, false);
  is_open[kWords] = true;  // check_atomic has looked, and its guard follows
  for (std::size_t i = 0; i < side.operations.size(); ++i) {
    const Operation& operation = side.operations[i];
    if (operation.request.kind >= SendKind::read && !operation.has_succeeded) is_open[kSource + i] = true;
  }
  for (std::size_t i = 0; i < peer.operations.size(); ++i) {
    const Operation& operation = peer.operations[i];
    if (operation.request.kind == SendKind::write && !operation.has_succeeded) is_open[kWritten + i] = true;
  }
  for (std::size_t i = 0; i < side.receives.size(); ++i) is_open[kReceived + i] = side.receives[i].is_open;
  for (std::uint32_t slot = 0; slot < kEnd; ++slot) {
    const std::size_t at = std::size_t{slot} * kSlot;
    // The longest message leaves a guard at the end of every slot.
    const std::size_t from = is_open[slot] ? 1500 : 0;
    if (std::memcmp(side.bytes.data() + at + from, side.shadow.data() + at + from, kSlot - from) != 0) {
      broken(fmt::format("side {}: bytes of slot {} changed that nobody may change", index, slot));
    }
  }
}

}  // namespace rocetune::engine
