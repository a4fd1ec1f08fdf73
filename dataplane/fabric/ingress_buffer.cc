#include "dataplane/fabric/ingress_buffer.h"

namespace rocetune::fabric {

Bytes IngressBuffer::scaled(const IngressParameters& parameters, Bytes bytes, BitRate rate) {
  if (!parameters.scaled_from) return bytes;
  return Bytes(
      static_cast<std::int64_t>(Wide(bytes.count()) * rate.count() / parameters.scaled_from->count()));
}

void IngressBuffer::add_port(BitRate rate) {
  const auto port = static_cast<std::uint16_t>(ports_.size());
  ports_.emplace_back(rate, parameters_.pauser);
  if (parameters_.flow_control == FlowControl::credits) return;
  IngressPoolProfile lossless_pool = parameters_.lossless_pool;
  lossless_pool.headroom = scaled(parameters_, lossless_pool.headroom, rate);
  for (int p = 0; p < Priority::kCount; ++p) {
    const bool is_lossless = parameters_.lossless.contains(Priority(p));
    const auto queue = shared_.add_queue(is_lossless ? lossless_pool : parameters_.lossy_pool);
    ROCETUNE_ASSERT(queue == pool(port, Priority(p)));
  }
}

LinkFrame IngressBuffer::news(Instant now, std::uint16_t port, Priority p) {
  Port& at = ports_[port];
  if (parameters_.flow_control == FlowControl::credits) {
    const std::size_t lane = index_of(p);
    at.told[lane] = at.freed[lane];
    return {.kind = PacketKind::credit,
            .message = {.lane = p, .limit = at.freed[lane] + parameters_.lane_buffer.count()}};
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
