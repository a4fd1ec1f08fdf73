#include "dataplane/engine/frame_builder.h"

namespace rocetune::engine {
namespace {

// The ICRC up to the end of the BTH, which is written. `transport`: bytes from the BTH to the pad.
void start_icrc(const EndpointState& state, const wire::PathHeaders& headers, std::size_t transport,
                TransmitFrame& frame) {
  if (!state.options.compute_icrc) return;
  const auto udp_length = static_cast<std::uint16_t>(wire::UdpHeader::kSize + transport + wire::kIcrcSize);
  frame.icrc = wire::IcrcPrefix::behind_bth(
      headers.icrc().behind_udp(udp_length),
      wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame.header), headers.size()));
}

}  // namespace

void finish_frame(EndpointState& state, std::uint32_t row, const FrameDraft& draft, TransmitFrame& frame) {
  const QueuePair& pair = state.pairs[row];
  const wire::PathHeaders& headers = *state.pairs.path(row).headers;
  const auto pad = static_cast<std::uint8_t>(-draft.payload.length & 3);
  const std::size_t bth = headers.size();
  const std::size_t transport = wire::Bth::kSize + draft.extended + draft.payload.length + pad;
  const wire::MutableBytes out(frame.header);
  headers.emit(out, transport);
  // MigReq is set, as adapters send it: the state "migrated" is that of queue pairs that never migrate
  // (section 17.2.8). Receivers here and in rdma_rxe do not look at it.
  wire::Bth{.opcode = draft.opcode,
            .solicited = draft.solicited,
            .migration = true,
            .pad = pad,
            .partition = pair.partition,
            .destination = pair.peer,
            .ack_request = draft.ack_request,
            .psn = draft.psn}
      .emit(wire::fixed<wire::Bth::kSize>(out, bth));
  frame.header_size = static_cast<std::uint16_t>(bth + wire::Bth::kSize + draft.extended);
  frame.pad = pad;
  frame.payload = draft.payload;
  frame.ticket = ++state.ticket;
  frame.network_offset = static_cast<std::uint16_t>(headers.ip_offset());
  frame.bth_end = static_cast<std::uint16_t>(bth + wire::Bth::kSize);
  start_icrc(state, headers, transport, frame);
  ++state.statistics.tx_frames;
  state.statistics.tx_payload_bytes += draft.payload.length;
  if (draft.payload.length > 0 && !state.options.payload_is_copied) {
    state.regions.note_use(draft.payload.region, frame.ticket);
  }
}

void ask_acknowledge(EndpointState& state, std::uint32_t row, TransmitFrame& frame) {
  const wire::PathHeaders& headers = *state.pairs.path(row).headers;
  constexpr std::size_t kAckRequest = 8;  // the byte of the BTH whose first bit it is
  frame.header[headers.size() + kAckRequest] |= std::byte{0x80};
  start_icrc(state, headers, frame.size() - headers.size() - wire::kIcrcSize, frame);
}

void build_cnp(EndpointState& state, std::uint32_t row, TransmitFrame& frame) {
  const QueuePair& pair = state.pairs[row];
  const wire::PathHeaders& headers = *state.pairs.path(row).headers;
  const wire::MutableBytes out(frame.header);
  const std::size_t size = wire::emit_cnp(headers, pair.peer, out) - wire::kIcrcSize;
  const dcqcn::NotificationPointParameters& np = state.options.notification;
  headers.remark(out, TosByte(np.cnp_dscp, state.options.cnp_ecn), np.cnp_priority);
  frame.header_size = static_cast<std::uint16_t>(size);
  frame.pad = 0;
  frame.payload = {};
  frame.ticket = ++state.ticket;
  frame.network_offset = static_cast<std::uint16_t>(headers.ip_offset());
  frame.bth_end = frame.header_size;
  frame.icrc = ~wire::load_icrc(out, size);  // seal() writes the complement
  ++state.statistics.tx_frames;
  ++state.statistics.cnps_sent;
}

}  // namespace rocetune::engine
