#include "dataplane/fabric/ingress_buffer.h"

namespace rocetune::fabric {

Bytes IngressBuffer::scaled(const IngressParameters& parameters, Bytes bytes, BitRate rate) {
  if (!parameters.scaled_from) return bytes;
  return Bytes(
      static_cast<std::int64_t>(Wide(bytes.count()) * rate.count() / parameters.scaled_from->count()));
}

void IngressBuffer::add_port(BitRate rate) {
  Port& port = ports_.emplace_back(rate, parameters_.pauser);
  if (parameters_.flow_control == FlowControl::credits) return;
  IngressPoolProfile lossless_pool = parameters_.lossless_pool;
  lossless_pool.headroom = scaled(parameters_, lossless_pool.headroom, rate);
  if (parameters_.scales_alpha && parameters_.scaled_from) {
    for (BitRate left = rate; left > *parameters_.scaled_from && lossless_pool.alpha_exponent < 0;
         left = left / 2)
      ++lossless_pool.alpha_exponent;
  }
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool is_lossless = parameters_.lossless.contains(Priority(p));
    port.pools[static_cast<std::size_t>(p)] =
        shared_.add_queue(is_lossless ? lossless_pool : parameters_.lossy_pool);
  }
}

std::optional<LinkFrame> IngressBuffer::tell(Instant now, std::uint16_t port, Priority p) {
  Port& at = ports_[port];
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
