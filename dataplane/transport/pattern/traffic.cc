#include "dataplane/transport/pattern/traffic.h"

#include <algorithm>

namespace rocetune::pattern {
namespace {

// A completion for every so many requests is enough to know how far a queue pair is.
constexpr std::uint32_t kMostUnsignaled = 16;

// The work id of a request: queue pair and message number.
constexpr int kMessageBits = 48;
constexpr std::uint64_t kMessageMask = (std::uint64_t{1} << kMessageBits) - 1;
std::uint64_t work_id(std::uint32_t pair, std::uint64_t message) {
  return std::uint64_t{pair} << kMessageBits | (message & kMessageMask);
}
std::uint32_t pair_of(std::uint64_t id) { return static_cast<std::uint32_t>(id >> kMessageBits); }
std::uint64_t message_of(std::uint64_t id) { return id & kMessageMask; }

tl::unexpected<Error> refused(std::string_view what, engine::PostRefusal why) {
  return fail(ErrorKind::conflict, "the endpoint refuses a {}: {}", what, enum_name(why));
}

tl::unexpected<Error> failed(const engine::Completion& completion) {
  return fail(ErrorKind::io, "queue pair {:#08x}: a {} ended with {}", completion.qpn.value(),
              enum_name(completion.kind), enum_name(completion.status));
}

bool is_receive(const engine::Completion& completion) {
  return completion.kind == engine::CompletionKind::receive;
}

engine::SendKind kind_of(Operation operation) {
  switch (operation) {
    case Operation::write:
      return engine::SendKind::write;
    case Operation::read:
      return engine::SendKind::read;
    case Operation::send:
      return engine::SendKind::send;
  }
  return engine::SendKind::write;
}

// Whether all target slots that the messages of a queue pair have reached hold what they must. `content`: the
// asker's number of the queue pair.
bool targets_are_right(const Registered& memory, const Layout& layout, std::uint32_t pair,
                       std::uint32_t content, MessageRange messages, std::uint32_t size) {
  if (messages.end < messages.first) return false;
  const std::uint64_t count = std::min(messages.end - messages.first, 2 * layout.slots());
  std::vector<std::byte> expected(size);
  for (std::uint64_t message = messages.end - count; message < messages.end; ++message) {
    fill_message(expected, content, message % layout.slots());
    const auto slot = memory.bytes.subspan(layout.target(pair, message), size);
    if (!std::equal(slot.begin(), slot.end(), expected.begin())) return false;
  }
  return true;
}

Expected<> receive_into(engine::Endpoint& endpoint, wire::Qpn qpn, std::uint64_t id, const Registered& memory,
                        std::uint64_t offset, std::uint32_t room) {
  const auto posted =
      endpoint.post_receive(qpn, {.work_id = id, .local = {memory.address + offset, room, memory.key}});
  if (!posted) return refused("receive", posted.error());
  return {};
}

}  // namespace

Asker::Asker(engine::Endpoint& endpoint, const TickClock& clock, const Plan& plan, const Registered& memory,
             const RemoteRegion& remote, std::uint32_t first_remote, const std::vector<wire::Qpn>& pairs)
    : endpoint_(endpoint),
      clock_(clock),
      plan_(plan),
      layout_(plan),
      memory_(memory),
      remote_(remote),
      first_remote_(first_remote) {
  signal_every_ = is_timed() ? 1 : std::clamp<std::uint32_t>(plan.window / 2, 1, kMostUnsignaled);
  if (is_echoed()) signal_every_ = std::clamp<std::uint32_t>(plan.window / 2, 1, kMostUnsignaled);
  for (const wire::Qpn qpn : pairs) pairs_.push_back({.qpn = qpn, .until_signaled = signal_every_});
}

Expected<> Asker::prepare(Bytes size) {
  size_ = static_cast<std::uint32_t>(size.count());
  std::fill(memory_.bytes.begin(), memory_.bytes.end(), std::byte{0});
  latency_ = Histogram();
  completed_ = not_timed_ = 0;
  for (std::uint32_t index = 0; index < pairs_.size(); ++index) {
    Pair& pair = pairs_[index];
    pair.first = pair.posted;
    pair.timings.assign(is_timed() ? layout_.slots() : 0, {});
    for (std::uint64_t slot = 0; slot < layout_.slots(); ++slot) {
      fill_message(memory_.bytes.subspan(layout_.source(index, slot), size_), index, slot);
    }
    if (!is_echoed() || receives_are_posted_) continue;
    for (std::uint64_t message = 0; message < 2 * layout_.slots(); ++message) {
      if (auto posted = post_receive(index, message); !posted) return posted;
    }
  }
  receives_are_posted_ = true;
  return {};
}

Expected<> Asker::post_receive(std::uint32_t index, std::uint64_t message) {
  return receive_into(endpoint_, pairs_[index].qpn, work_id(index, message), memory_,
                      layout_.target(index, message), layout_.stride());
}

Expected<> Asker::post(std::uint32_t index, std::uint64_t epoch) {
  Pair& pair = pairs_[index];
  const std::uint64_t message = pair.posted;
  const std::uint32_t remote = first_remote_ + index;
  engine::SendRequest request{.work_id = work_id(index, message), .kind = kind_of(plan_.operation)};
  request.signaled = --pair.until_signaled == 0;
  if (request.signaled) pair.until_signaled = signal_every_;
  const bool is_read = plan_.operation == Operation::read;
  const std::uint64_t local =
      is_read ? layout_.target(index, pair.target_slot) : layout_.source(index, pair.slot);
  request.local = {memory_.address + local, size_, memory_.key};
  request.remote_address = remote_.address + (is_read ? layout_.source(remote, pair.slot)
                                                      : layout_.target(remote, pair.target_slot));
  request.remote_key = remote_.key;
  if (is_timed()) pair.timings[pair.slot] = {clock_.now(), epoch};
  if (const auto posted = endpoint_.post_send(pair.qpn, request); !posted) {
    return refused("request", posted.error());
  }
  ++pair.posted;
  pair.slot = pair.slot + 1 == layout_.slots() ? 0 : pair.slot + 1;
  pair.target_slot = pair.target_slot + 1 == 2 * layout_.slots() ? 0 : pair.target_slot + 1;
  ++in_flight_;
  return {};
}

Expected<> Asker::refill(std::uint32_t index, std::uint64_t epoch) {
  const Pair& pair = pairs_[index];
  // After the end only as many as it takes to get a completion for the last ones.
  while (pair.posted - pair.done < plan_.window && (is_open_ || pair.until_signaled != signal_every_)) {
    if (auto posted = post(index, epoch); !posted) return posted;
  }
  return {};
}

// Everything up to message number `done` - 1 of the queue pair is through.
void Asker::on_done(Pair& pair, std::uint64_t done, std::uint64_t epoch) {
  if (is_timed()) {
    const Instant now = clock_.now();
    for (std::uint64_t message = pair.done; message < done; ++message) {
      const Timing& timing = pair.timings[message % layout_.slots()];
      if (timing.epoch == epoch) {
        latency_.add(static_cast<std::uint64_t>((now - timing.posted) / nanoseconds(1)));
      } else {
        ++not_timed_;
      }
    }
  }
  completed_ += done - pair.done;
  in_flight_ -= done - pair.done;
  pair.done = done;
}

Expected<> Asker::on_completion(const engine::Completion& completion, std::uint64_t epoch) {
  if (completion.status != engine::CompletionStatus::success) return failed(completion);
  const std::uint32_t index = pair_of(completion.work_id);
  const std::uint64_t message = message_of(completion.work_id);
  if (is_receive(completion)) {
    // An echo says more than the acknowledgement of what it answers.
    on_done(pairs_[index], message + 1, epoch);
    if (auto posted = post_receive(index, message + 2 * layout_.slots()); !posted) return posted;
  } else if (!is_echoed()) {
    on_done(pairs_[index], message + 1, epoch);
  }
  return refill(index, epoch);
}

Expected<> Asker::work(bool is_open, std::uint64_t epoch) {
  const bool has_changed = is_open != is_open_;
  is_open_ = is_open;
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) {
    if (auto handled = on_completion(completion, epoch); !handled) return handled;
  }
  // Otherwise only queue pairs that something completed on have room.
  for (std::uint32_t index = 0; index < pairs_.size() && has_changed; ++index) {
    if (auto filled = refill(index, epoch); !filled) return filled;
  }
  return {};
}

bool Asker::answers_are_right() const {
  if (plan_.operation != Operation::read && !is_echoed()) return true;
  for (std::uint32_t index = 0; index < pairs_.size(); ++index) {
    const MessageRange messages{pairs_[index].first, pairs_[index].done};
    // What a READ brings is the content of the answering side's queue pair.
    if (!targets_are_right(memory_, layout_, index, index, messages, size_)) return false;
  }
  return true;
}

std::vector<MessageRange> Asker::posted() const {
  std::vector<MessageRange> ranges;
  for (const Pair& pair : pairs_) ranges.push_back({pair.first, pair.posted});
  return ranges;
}

Answerer::Answerer(engine::Endpoint& endpoint, const Plan& plan, const Registered& memory,
                   std::vector<wire::Qpn> pairs)
    : endpoint_(endpoint), plan_(plan), layout_(plan), memory_(memory), pairs_(std::move(pairs)) {}

Expected<> Answerer::prepare(Bytes size) {
  size_ = static_cast<std::uint32_t>(size.count());
  std::fill(memory_.bytes.begin(), memory_.bytes.end(), std::byte{0});
  for (std::uint32_t index = 0; index < pairs_.size(); ++index) {
    for (std::uint64_t slot = 0; slot < layout_.slots() && plan_.operation == Operation::read; ++slot) {
      fill_message(memory_.bytes.subspan(layout_.source(index, slot), size_), index % plan_.queue_pairs,
                   slot);
    }
    if (plan_.operation != Operation::send || receives_are_posted_) continue;
    for (std::uint64_t message = 0; message < 2 * layout_.slots(); ++message) {
      if (auto posted = post_receive(index, message); !posted) return posted;
    }
  }
  receives_are_posted_ = true;
  return {};
}

Expected<> Answerer::post_receive(std::uint32_t index, std::uint64_t message) {
  return receive_into(endpoint_, pairs_[index], work_id(index, message), memory_,
                      layout_.target(index, message), layout_.stride());
}

Expected<> Answerer::work() {
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) {
    if (completion.status != engine::CompletionStatus::success) return failed(completion);
    if (!is_receive(completion)) continue;
    ++received_;
    const std::uint32_t index = pair_of(completion.work_id);
    const std::uint64_t message = message_of(completion.work_id);
    if (plan_.pattern == Pattern::latency) {
      engine::SendRequest echo{.work_id = completion.work_id};
      echo.signaled = (message + 1) % kMostUnsignaled == 0;
      echo.local = {memory_.address + layout_.target(index, message), completion.length, memory_.key};
      const auto sent = endpoint_.post_send(pairs_[index], echo);
      if (!sent) return refused("echo", sent.error());
    }
    if (auto posted = post_receive(index, message + 2 * layout_.slots()); !posted) return posted;
  }
  return {};
}

bool Answerer::content_is_right(std::uint32_t first, const std::vector<MessageRange>& posted) const {
  if (plan_.operation == Operation::read) return true;
  if (posted.size() != plan_.queue_pairs || first + posted.size() > pairs_.size()) return false;
  for (std::uint32_t i = 0; i < posted.size(); ++i) {
    if (!targets_are_right(memory_, layout_, first + i, i, posted[i], size_)) return false;
  }
  return true;
}

}  // namespace rocetune::pattern
