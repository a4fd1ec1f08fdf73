#include "dataplane/fabric/ingress_buffer.h"

namespace rocetune::fabric {

Bytes IngressParameters::scaled(Bytes bytes, BitRate rate) const {
  return scaled_from ? Bytes(mul_div(bytes.count(), rate.count(), scaled_from->count())) : bytes;
}

Bytes DerivedHeadroom::of(BitRate rate, Duration delay) const {
  const Duration silent_after = 2 * delay + reaction;
  // Bits a second x picoseconds.
  const Wide bits = Wide(rate.count()) * silent_after.count();
  const Wide on_the_way = (bits + Wide(8'000'000'000'000) - 1) / Wide(8'000'000'000'000);
  return Bytes(static_cast<std::int64_t>(on_the_way)) + 3 * frame +
         Bytes(std::int64_t{LinkFrame{.message = {}}.wire_bytes()});
}

Bytes IngressParameters::headroom_at(BitRate rate, Duration delay) const {
  return derived_headroom ? derived_headroom->of(rate, delay) : scaled(lossless_pool.headroom, rate);
}

void IngressBuffer::add_port(BitRate rate, Duration delay, bool is_counted) {
  Port& port = ports_.emplace_back(rate, parameters_.pauser);
  port.is_counted = is_counted;
  if (parameters_.flow_control == FlowControl::credits || !is_counted) return;
  IngressPoolProfile lossless_pool = parameters_.lossless_pool;
  lossless_pool.headroom = parameters_.headroom_at(rate, delay);
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool is_lossless = parameters_.lossless.contains(Priority(p));
    port.pools[static_cast<std::size_t>(p)] =
        shared_.add_queue(is_lossless ? lossless_pool : parameters_.lossy_pool);
  }
}

std::optional<LinkFrame> IngressBuffer::tell(Instant now, std::uint16_t port, Priority p) {
  Port& at = ports_[port];
  if (!at.is_counted) return std::nullopt;
  if (parameters_.flow_control == FlowControl::credits) {
    // A quarter of the buffer at a time: often enough that the peer never waits for a message, if the buffer
    // is that much larger than what is in flight.
    const std::size_t lane = index_of(p);
    if (at.freed[lane] - at.told[lane] < parameters_.lane_buffer.count() / 4) return std::nullopt;
    at.told[lane] = at.freed[lane];
    return LinkFrame{.kind = PacketKind::credit,
                     .message = {.lane = p, .limit = at.freed[lane] + parameters_.lane_buffer.count()}};
  }
  std::optional<PfcMessage> message;
  if (shared_.wants_xoff(pool(port, p))) {
    message = at.pauser.on_buffer(now, p, true);
  } else if (at.pauser.paused().contains(p) && shared_.allows_xon(pool(port, p))) {
    message = at.pauser.on_buffer(now, p, false);
  }
  if (!message) return std::nullopt;
  return LinkFrame{.message = {.pause = *message}};
}

std::optional<LinkFrame> IngressBuffer::let_go(Instant now, std::uint16_t port, Priority p) {
  const auto message = ports_[port].pauser.on_buffer(now, p, false);
  if (!message) return std::nullopt;
  return LinkFrame{.message = {.pause = *message}};
}

std::optional<LinkFrame> IngressBuffer::on_timer(Instant now, std::uint16_t port) {
  const auto message = ports_[port].pauser.on_timer(now);
  if (!message) return std::nullopt;
  return LinkFrame{.message = {.pause = *message}};
}

}  // namespace rocetune::fabric
