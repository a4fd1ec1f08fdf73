// Frames for tests of the tap: RoCE packets with good ICRCs, and captures in memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dataplane/wire/mac_control.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/path_headers.h"

namespace rocetune::tap {

using Frame = std::vector<std::byte>;

// One direction between two hosts, 10.0.0.<from> to 10.0.0.<to>.
struct Direction {
  std::uint32_t from = 1;
  std::uint32_t to = 2;
  std::uint32_t qp = 0x11;
  Ecn ecn = Ecn::ect0;
  std::uint16_t port = 0xC001;

  wire::Path path() const {
    return {.source = wire::IpAddress::v4(0x0A000000 + from),
            .destination = wire::IpAddress::v4(0x0A000000 + to),
            .tos = TosByte(Dscp(26), ecn),
            .source_port = port};
  }
  // `extended` are the extended headers, as bytes.
  Frame packet(std::uint8_t opcode, std::uint32_t psn, std::size_t payload,
               const Frame& extended = {}) const {
    const wire::PathHeaders headers(path());
    const std::size_t transport = wire::Bth::kSize + extended.size() + payload;
    Frame frame(headers.size() + transport + wire::kIcrcSize);
    const wire::MutableBytes bytes(frame);
    headers.emit(bytes, transport);
    wire::Bth{.opcode = opcode, .destination = wire::Qpn(qp), .psn = wire::Psn(psn)}.emit(
        wire::fixed<wire::Bth::kSize>(bytes, headers.size()));
    std::copy(extended.begin(), extended.end(),
              frame.begin() + static_cast<long>(headers.size() + wire::Bth::kSize));
    wire::store_icrc(bytes, headers.size() + transport,
                     headers.icrc().icrc(bytes.subspan(headers.size(), transport)));
    return frame;
  }
  Frame ack(std::uint32_t psn, std::uint8_t syndrome = wire::Aeth::kNoCredits) const {
    Frame aeth(wire::Aeth::kSize);
    wire::Aeth{.syndrome = syndrome}.emit(wire::fixed<wire::Aeth::kSize>(wire::MutableBytes(aeth)));
    return packet(wire::opcode::kRcAcknowledge, psn, 0, aeth);
  }
  Frame write_first(std::uint32_t psn, std::size_t payload, std::uint32_t length) const {
    return packet(wire::opcode::kRcWriteFirst, psn, payload, reth(length));
  }
  Frame send_only(std::uint32_t psn, std::size_t payload = 64) const {
    return packet(wire::opcode::kRcSendOnly, psn, payload);
  }
  Frame read_request(std::uint32_t psn, std::uint32_t length) const {
    return packet(wire::opcode::kRcReadRequest, psn, 0, reth(length));
  }
  Frame cnp() const {
    Frame frame(200);
    frame.resize(wire::emit_cnp(wire::PathHeaders(path()), wire::Qpn(qp), frame));
    return frame;
  }
  static Frame reth(std::uint32_t length) {
    Frame bytes(wire::Reth::kSize);
    wire::Reth{.length = length}.emit(wire::fixed<wire::Reth::kSize>(wire::MutableBytes(bytes)));
    return bytes;
  }
};

inline Frame operator+(Frame a, const Frame& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace rocetune::tap
