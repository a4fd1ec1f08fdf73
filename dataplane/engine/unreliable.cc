#include "dataplane/engine/unreliable.h"

namespace rocetune::engine {
namespace {

using Message = ReceiveSide::Message;

constexpr std::uint32_t kNetworkHeader = 40;

// Gives up the message under way, if any.
void abandon(EndpointState& state, ReceiveSide& receive, DropReason reason) {
  state.statistics.drop(reason);
  receive.message = Message::none;
}

// A first packet: where its message goes. An empty optional, and a counted reason: nowhere.
std::optional<PayloadReference> target_of(EndpointState& state, ReceiveSide& receive, const Inbound& in) {
  if (in.packet.opcode->operation == wire::Operation::send) {
    if (!receive.queue.is_empty()) return state.receives[receive.queue.head].local;
    state.statistics.drop(DropReason::no_receive_request);
    return std::nullopt;
  }
  const auto reth = in.header<wire::Reth>(0);
  if (reth.length == 0) return PayloadReference{};
  const auto target = state.regions.resolve(MemoryKey(reth.rkey), reth.address, reth.length, kRemoteWrite);
  if (!target) state.statistics.drop(DropReason::remote_access);
  return target;
}

// Payload that the opcode and the message so far allow.
bool has_valid_length(const QueuePair& pair, const Inbound& in) {
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  const ReceiveSide& receive = pair.receive;
  const std::uint32_t length = in.packet.payload;
  const std::uint32_t rest = receive.target.length - receive.arrived;
  if (opcode.ends_message ? length > pair.mtu() : length != pair.mtu()) return false;
  if (receive.message == Message::send) return length <= rest;
  return opcode.ends_message ? length == rest : length < rest;
}

}  // namespace

void receive_unreliable(EndpointState& state, std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state.pairs[row];
  ReceiveSide& receive = pair.receive;
  const wire::OpcodeInfo& opcode = *in.packet.opcode;
  const bool is_send = opcode.operation == wire::Operation::send;
  const Message kind = is_send ? Message::send : Message::write;
  const Sequence at = receive.expected.near(in.packet.bth.psn);
  const bool continues = at == receive.expected && receive.message == kind;
  receive.expected = at + 1;
  if (opcode.starts_message) {
    receive.message = Message::none;
    const auto target = target_of(state, receive, in);
    if (!target) return;
    receive.target = *target;
    receive.arrived = 0;
    receive.message = kind;
  } else if (!continues) {
    return abandon(state, receive, DropReason::message_broken);
  }
  if (!has_valid_length(pair, in)) return abandon(state, receive, DropReason::invalid_request);
  const std::uint32_t length = in.packet.payload;
  if (length > 0 && !state.regions.is_valid(receive.target.region)) {
    return abandon(state, receive, DropReason::remote_access);
  }
  if (opcode.has(wire::kImmDt) && receive.queue.is_empty()) {
    return abandon(state, receive, DropReason::no_receive_request);
  }
  state.placements.add({receive.target.region, length, receive.target.offset + receive.arrived}, in);
  state.statistics.rx_payload_bytes += length;
  receive.arrived += length;
  if (!opcode.ends_message) return;
  receive.message = Message::none;
  if (is_send) {
    state.complete_receive(row, in, {.kind = CompletionKind::receive, .length = receive.arrived});
  } else if (opcode.has(wire::kImmDt)) {
    state.complete_receive(row, in, {.kind = CompletionKind::receive_immediate, .length = receive.arrived});
  }
}

void receive_datagram(EndpointState& state, std::uint32_t row, const Inbound& in) {
  QueuePair& pair = state.pairs[row];
  ReceiveSide& receive = pair.receive;
  const auto deth = in.header<wire::Deth>(0);
  if (deth.qkey != pair.queue_key) return state.statistics.drop(DropReason::bad_queue_key);
  if (receive.queue.is_empty()) return state.statistics.drop(DropReason::no_receive_request);
  const PayloadReference& local = state.receives[receive.queue.head].local;
  const std::uint32_t length = in.packet.payload;
  if (length + kNetworkHeader > local.length) return state.statistics.drop(DropReason::invalid_request);
  if (!state.regions.is_valid(local.region)) return state.statistics.drop(DropReason::remote_access);
  const std::uint32_t network = in.packet.transport - static_cast<std::uint32_t>(wire::UdpHeader::kSize);
  if (in.content == nullptr && network <= kNetworkHeader) {
    state.placements.add({local.region, network, local.offset + kNetworkHeader - network},
                         in.packet.bytes.data());
  }
  state.placements.add({local.region, length, local.offset + kNetworkHeader}, in);
  state.statistics.rx_payload_bytes += length;
  state.complete_receive(
      row, in, {.kind = CompletionKind::receive, .length = length + kNetworkHeader, .source = deth.source});
}

}  // namespace rocetune::engine
