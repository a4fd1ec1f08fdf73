// Setting up and taking down: regions and queue pairs. Not on the fast path.
#include <bit>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/endpoint_state.h"

namespace rocetune::engine {
namespace {

Expected<> check(const ConnectParameters& p) {
  const auto out_of_range = [](std::string_view what, int found, int most) {
    return fail(ErrorKind::bad_input, "connect: {} is {}; allowed: 0 to {}", what, found, most);
  };
  if (p.path.source.is_v4() != p.path.destination.is_v4()) {
    return fail(ErrorKind::bad_input, "connect: addresses of two kinds, {} and {}", to_text(p.path.source),
                to_text(p.path.destination));
  }
  if (!std::has_single_bit(bytes_of(p.mtu)) || bytes_of(p.mtu) < 256 || bytes_of(p.mtu) > 4096) {
    return fail(ErrorKind::bad_input, "connect: path MTU {}; allowed: 256, 512, 1024, 2048, 4096",
                bytes_of(p.mtu));
  }
  if (p.ack_timeout > 31) return out_of_range("ack timeout", p.ack_timeout, 31);
  if (p.retry_count > 7) return out_of_range("retry count", p.retry_count, 7);
  if (p.rnr_retry > 7) return out_of_range("RNR retry count", p.rnr_retry, 7);
  if (p.rnr_timer > 31) return out_of_range("RNR timer code", p.rnr_timer, 31);
  if (p.initiator_depth > 128) return out_of_range("initiator depth", p.initiator_depth, 128);
  if (p.responder_resources > 128) return out_of_range("responder resources", p.responder_resources, 128);
  if ((p.partition & 0x7FFF) == 0) {
    return fail(ErrorKind::bad_input, "connect: partition key {:#06x} is no member of any partition",
                p.partition);
  }
  return {};
}

void configure(QueuePair& pair, const ConnectParameters& p) {
  pair.peer = p.peer;
  pair.mtu_shift = static_cast<std::uint8_t>(std::countr_zero(bytes_of(p.mtu)));
  pair.ack_timeout = p.ack_timeout;
  pair.retry_count = p.retry_count;
  pair.rnr_retry = p.rnr_retry;
  pair.rnr_timer = p.rnr_timer;
  pair.initiator_depth = p.initiator_depth;
  pair.responder_resources = p.responder_resources;
  pair.end_to_end_credits = p.end_to_end_credits;
  pair.selective_repeat = p.selective_repeat;
  pair.partition = p.partition;
  pair.peer_address = p.path.destination;
  SendSide& send = pair.send;
  send.unacked = send.next = send.sent_end = send.posted_end = Sequence::starting_at(p.psn);
  send.asked_end = send.repeat_end = send.unacked;
  send.retries_left = p.retry_count;
  send.rnr_retries_left = p.rnr_retry;
  send.has_credits = p.end_to_end_credits;  // none yet: the first SEND probes
  pair.receive.expected = Sequence::starting_at(p.peer_psn);
}

// Slots of the response pool that a queue pair holds: one more than granted, for repetitions.
std::uint32_t response_slots(const QueuePair& pair) {
  return pair.responder_resources == 0 ? 0 : pair.responder_resources + 1U;
}

}  // namespace

Endpoint::Endpoint(const EndpointOptions& options, PayloadAccess& access)
    : state_(std::make_unique<EndpointState>(options, access)) {}
Endpoint::~Endpoint() = default;

Expected<MemoryKey> Endpoint::add_region(const RegionOptions& options) {
  return state_->regions.add(options);
}
Expected<> Endpoint::remove_region(MemoryKey key) { return state_->regions.remove(key); }
bool Endpoint::is_referenced(MemoryKey key) const {
  return state_->regions.last_ticket(key) > state_->released;
}

Expected<wire::Qpn> Endpoint::create(const QueuePairOptions& options) {
  using wire::Service;
  if (options.service != Service::rc && options.service != Service::uc && options.service != Service::ud) {
    return rocetune::fail(ErrorKind::bad_input, "queue pairs are RC, UC or UD, not {}",
                          to_text(options.service));
  }
  if (state_->pairs.is_full()) {
    return rocetune::fail(ErrorKind::conflict, "all {} queue pairs are in use", state_->pairs.size());
  }
  const std::uint32_t row = state_->pairs.take();
  QueuePair& pair = state_->pairs[row];
  pair.service = options.service;
  pair.send_depth = options.send_depth;
  pair.receive_depth = options.receive_depth;
  pair.queue_key = options.queue_key;
  return pair.qpn;
}

Expected<> Endpoint::connect(wire::Qpn qpn, const ConnectParameters& parameters) {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot) return rocetune::fail(ErrorKind::absent, "no queue pair {:#x}", qpn.value());
  QueuePair& pair = state_->pairs[row];
  if (pair.state != QueuePairState::created || pair.service == wire::Service::ud) {
    return rocetune::fail(ErrorKind::conflict, "queue pair {:#x} ({}, {}) cannot connect", qpn.value(),
                          wire::to_text(pair.service), enum_name(pair.state));
  }
  if (auto fine = check(parameters); !fine) return fine;
  const std::uint32_t slots = parameters.responder_resources == 0 ? 0 : parameters.responder_resources + 1U;
  if (state_->responses_granted + slots > state_->options.responder_resources) {
    return rocetune::fail(ErrorKind::conflict,
                          "{} responder resources are granted, {} more would be too many of {}",
                          state_->responses_granted, slots, state_->options.responder_resources);
  }
  state_->responses_granted += slots;
  configure(pair, parameters);
  if (parameters.initiator_depth > 0 && !state_->atomics)
    state_->atomics.emplace(state_->options.send_requests);
  pair.notification.emplace(state_->options.notification);
  QueuePairPath& path = state_->pairs.path(row);
  path.headers.emplace(parameters.path);
  const ControllerChoice& controller =
      parameters.controller != nullptr ? *parameters.controller : state_->options.controller;
  path.controller.emplace(controller.make(state_->options.line_rate));
  pair.state = QueuePairState::connected;
  return {};
}

Expected<> Endpoint::fail(wire::Qpn qpn) {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot) return rocetune::fail(ErrorKind::absent, "no queue pair {:#x}", qpn.value());
  state_->enter_error(row, CompletionStatus::flushed);
  return {};
}

Expected<> Endpoint::destroy(wire::Qpn qpn) {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot) return rocetune::fail(ErrorKind::absent, "no queue pair {:#x}", qpn.value());
  QueuePair& pair = state_->pairs[row];
  for (std::uint32_t i = pair.send.queue.size + pair.receive.queue.size; i > 0; --i) {
    state_->completions.cancel();
  }
  state_->sends.clear(pair.send.queue);
  state_->receives.clear(pair.receive.queue);
  state_->responses.clear(pair.receive.responses);
  state_->responses.clear(pair.receive.remembered);
  state_->responses_granted -= response_slots(pair);
  state_->timers.disarm(row);
  state_->pairs.release(row);
  return {};
}

QueuePairState Endpoint::state(wire::Qpn qpn) const {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  return row == kNoSlot ? QueuePairState::unused : state_->pairs[row].state;
}

std::optional<BitRate> Endpoint::rate(wire::Qpn qpn) const {
  const std::uint32_t row = state_->pairs.row_of(qpn);
  if (row == kNoSlot || !state_->pairs.path(row).controller) return std::nullopt;
  return std::visit([](const auto& controller) { return controller.rate(); },
                    *state_->pairs.path(row).controller);
}

}  // namespace rocetune::engine
