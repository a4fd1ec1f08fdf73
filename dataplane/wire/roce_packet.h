// One RoCE packet as it stands in memory, from the network header to the ICRC: a view, nothing is copied or
// kept.
#pragma once

#include <optional>

#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ip.h"
#include "dataplane/wire/opcode.h"
#include "dataplane/wire/transport_headers.h"

namespace rocetune::wire {

enum class IcrcState : std::uint8_t { ok, bad, unknown };

struct RocePacket {
  NetworkHeader network = NetworkHeader::ipv4;  // grh: RoCE v1
  IpAddress source;                             // RoCE v1: GIDs
  IpAddress destination;
  TosByte tos;
  std::uint16_t source_port = 0;  // RoCE v1: 0
  Bth bth;
  const OpcodeInfo* opcode = nullptr;  // never null; may be !is_valid()
  ConstBytes bytes;                    // what is there of it, from the network header on, ICRC included
  std::uint16_t transport = 0;         // where the BTH begins in `bytes`
  std::uint16_t wire_size = 0;         // size by its own length fields; bytes.size() is smaller if cut
  std::uint16_t payload = 0;           // payload bytes by the length fields, without pad

  bool is_cut() const { return bytes.size() < wire_size; }
  // An extended header; none if the opcode has none or it was cut off.
  std::optional<Aeth> aeth() const { return header<Aeth>(kAeth); }
  std::optional<Reth> reth() const { return header<Reth>(kReth); }
  std::optional<ImmDt> immediate() const { return header<ImmDt>(kImmDt); }
  std::optional<AtomicEth> atomic() const { return header<AtomicEth>(kAtomicEth); }
  std::optional<AtomicAckEth> atomic_ack() const { return header<AtomicAckEth>(kAtomicAckEth); }
  std::optional<Ieth> invalidate() const { return header<Ieth>(kIeth); }
  std::optional<Deth> deth() const { return header<Deth>(kDeth); }
  std::optional<Xrceth> xrceth() const { return header<Xrceth>(kXrceth); }
  // Computes it; unknown if bytes are missing.
  IcrcState icrc_state() const;

  // `bytes` begins at the IP header of an Ethernet frame of that EtherType (or at the GRH for RoCE v1); what
  // lies behind the packet (padding, FCS) is ignored. Errors: not_roce for everything that is not RoCE;
  // truncated if it ends before the BTH does; bad_version, bad_length, fragment.
  static Decoded<RocePacket> parse(std::uint16_t ether_type, ConstBytes bytes);
  // The same into a place the caller has; after an error its content means nothing.
  static Decoded<void> parse_into(RocePacket& packet, std::uint16_t ether_type, ConstBytes bytes);

 private:
  template <class Header>
  std::optional<Header> header(Extended which) const {
    if (!opcode->has(which)) return std::nullopt;
    const std::size_t at = transport + Bth::kSize + opcode->offset_of(which);
    if (at + Header::kSize > bytes.size()) return std::nullopt;
    return Header::parse(fixed<Header::kSize>(bytes, at));
  }
};

}  // namespace rocetune::wire
