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
  const auto port = static_cast<std::uint16_t>(ports_.size());
  Port& added = ports_.emplace_back(rate, parameters_.pauser);
  added.is_counted = is_counted;
  if (parameters_.flow_control == FlowControl::credits) {
    added.credits = std::make_unique<Port::Credits>();
    return;
  }
  IngressPoolProfile lossless_pool = parameters_.lossless_pool;
  lossless_pool.headroom = parameters_.headroom_at(rate, delay);
  if (parameters_.scales_alpha && parameters_.scaled_from) {
    for (BitRate left = rate; left > *parameters_.scaled_from && lossless_pool.alpha_exponent < 0;
         left = left / 2)
      ++lossless_pool.alpha_exponent;
  }
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool is_lossless = parameters_.lossless.contains(Priority(p));
    const IngressPoolProfile& counted = is_lossless ? lossless_pool : parameters_.lossy_pool;
    const auto queue = shared_.add_queue(is_counted ? counted : IngressPoolProfile{.reserve = Bytes(0)});
    ROCETUNE_ASSERT(queue == pool(port, Priority(p)));
  }
}

LinkFrame IngressBuffer::news(Instant now, std::uint16_t port, Priority p) {
  Port& at = ports_[port];
  if (parameters_.flow_control == FlowControl::credits) {
    const std::size_t lane = index_of(p);
    at.credits->told[lane] = at.credits->freed[lane];
    return {.kind = PacketKind::credit,
            .message = {.lane = p, .limit = at.credits->freed[lane] + parameters_.lane_buffer.count()}};
  }
  return {.message = {.pause = *at.pauser.on_buffer(now, p, !at.pauser.paused().contains(p))}};
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
