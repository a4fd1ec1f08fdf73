#include "dataplane/transport/perftest/traffic.h"

namespace rocetune::perftest {
namespace {

constexpr std::uint64_t kTurnsPerLook = 1024;  // at whether to stop

engine::SendKind kind_of(Test test) {
  return is_write(test)  ? engine::SendKind::write
         : is_read(test) ? engine::SendKind::read
                         : engine::SendKind::send;
}

}  // namespace

Traffic::Traffic(pattern::Shard& shard, const TickClock& clock, const Options& options, std::uint32_t window,
                 const pattern::RemoteRegion& remote)
    : shard_(shard),
      clock_(clock),
      options_(options),
      window_(window),
      remote_(remote),
      qpn_(shard.pairs().front()) {}

std::span<std::byte> Traffic::bytes(bool of_target) const {
  const auto size = static_cast<std::size_t>(options_.size.count());
  const auto half = static_cast<std::size_t>(half_of(options_.size).count());
  return shard_.registered().bytes.subspan(of_target ? half : 0, size);
}

engine::Buffer Traffic::buffer(bool of_target) const {
  const pattern::Registered& memory = shard_.registered();
  const auto half = static_cast<std::uint64_t>(half_of(options_.size).count());
  return {memory.address + (of_target ? half : 0), static_cast<std::uint32_t>(options_.size.count()),
          memory.key};
}

bool Traffic::may_post() const {
  if (!options_.asks() || posted_ == options_.iterations) return false;
  if (!is_ping_pong(options_.test)) return posted_ - completed_ < window_;
  // A WRITE's last byte is its number: it must not change before the WRITE is done.
  const bool has_turn = options_.begins() ? received_ >= posted_ : received_ > posted_;
  return has_turn && (is_send(options_.test) || completed_ == posted_);
}

bool Traffic::is_done() const {
  return (!options_.asks() || completed_ == options_.iterations) &&
         (!options_.receives() || received_ == options_.iterations);
}

void Traffic::sample(Instant since) {
  const std::uint64_t pauses = shard_.driver().counters().pauses;
  if (pauses != pauses_) {
    ++not_timed_;
    return;
  }
  const Duration span = clock_.now() - since;
  latency_.add(static_cast<std::uint64_t>(span / nanoseconds(is_ping_pong(options_.test) ? 2 : 1)));
}

Expected<> Traffic::post() {
  if (is_write(options_.test) && is_latency(options_.test)) {
    bytes(false).back() = static_cast<std::byte>(posted_ + 1);
  }
  if (is_ping_pong(options_.test) && posted_ > 0) sample(last_post_);
  last_post_ = clock_.now();
  pauses_ = shard_.driver().counters().pauses;
  if (posted_ == 0) begin_ = last_post_;
  const auto refused = shard_.endpoint().post_send(qpn_, {.work_id = posted_,
                                                          .kind = kind_of(options_.test),
                                                          .local = buffer(is_read(options_.test)),
                                                          .remote_address = remote_.address,
                                                          .remote_key = remote_.key});
  if (!refused)
    return fail(ErrorKind::io, "message {} was not taken: {}", posted_, enum_name(refused.error()));
  ++posted_;
  return {};
}

Expected<> Traffic::post_receive() {
  if (receives_posted_ == options_.iterations) return {};
  const auto refused =
      shard_.endpoint().post_receive(qpn_, {.work_id = receives_posted_, .local = buffer(true)});
  if (!refused) return fail(ErrorKind::io, "a receive was not taken: {}", enum_name(refused.error()));
  ++receives_posted_;
  return {};
}

Expected<> Traffic::prepare() {
  if (!options_.receives() || !is_send(options_.test)) return {};
  for (std::uint32_t i = 0; i < options_.window; ++i) {
    if (auto posted = post_receive(); !posted) return posted;
  }
  return {};
}

// A WRITE has arrived when its last byte has: the number of the message.
void Traffic::look_for_write() {
  if (options_.test != Test::write_lat || received_ == options_.iterations) return;
  if (bytes(true).back() == static_cast<std::byte>(received_ + 1)) ++received_;
}

Expected<> Traffic::take(const engine::Completion& completion) {
  if (completion.status != engine::CompletionStatus::success) {
    return fail(ErrorKind::io, "message {}: {}", completion.work_id, enum_name(completion.status));
  }
  if (completion.kind < engine::CompletionKind::receive) {
    ++completed_;
    if (options_.test == Test::read_lat) sample(last_post_);
    return {};
  }
  if (completion.length != options_.size.count()) {
    return fail(ErrorKind::bad_input, "message {} has {} bytes, {} were agreed: --size must be alike",
                received_, completion.length, options_.size.count());
  }
  if (received_ == 0 && !options_.asks()) begin_ = clock_.now();
  ++received_;
  return post_receive();
}

Expected<> Traffic::run(const pattern::StopQuestion& stop) {
  begin_ = clock_.now();
  for (std::uint64_t turn = 1; !is_done(); ++turn) {
    const Instant now = shard_.driver().receive();
    engine::Completion completion;
    while (shard_.endpoint().poll_completion(completion)) {
      if (auto taken = take(completion); !taken) return taken;
    }
    look_for_write();
    while (may_post()) {
      if (auto posted = post(); !posted) return posted;
    }
    shard_.driver().transmit(now);
    if (turn % kTurnsPerLook == 0 && stop()) return fail(ErrorKind::io, "interrupted");
  }
  end_ = clock_.now();
  return {};
}

}  // namespace rocetune::perftest
