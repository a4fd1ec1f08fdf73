// The opcode byte of the base transport header: what a packet is and which headers follow.
// Source: InfiniBand architecture specification, volume 1, section 9.2.1, table "OpCode field"; annex A14
// (XRC), annex A17 (CNP), annex A19 (flush, atomic write).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rocetune::wire {

enum class Service : std::uint8_t { rc, uc, rd, ud, cnp, xrc };
std::string_view to_text(Service);

enum class Operation : std::uint8_t {
  none,  // not an opcode
  send,
  write,
  read_request,
  read_response,
  acknowledge,
  atomic_acknowledge,
  compare_swap,
  fetch_add,
  resync,  // RD only
  flush,
  atomic_write,
  congestion_notification,
};

// Extended headers, in the order in which they may follow the BTH.
enum Extended : std::uint16_t {
  kRdeth = 1 << 0,
  kXrceth = 1 << 1,
  kDeth = 1 << 2,
  kFeth = 1 << 3,
  kReth = 1 << 4,
  kAtomicEth = 1 << 5,
  kAeth = 1 << 6,
  kAtomicAckEth = 1 << 7,
  kImmDt = 1 << 8,
  kIeth = 1 << 9,
  kCnpReserved = 1 << 10,  // 16 zero bytes of a CNP
};

struct OpcodeInfo {
  std::string_view name;  // "RDMA WRITE First", without the service; empty: not an opcode
  Service service = Service::rc;
  Operation operation = Operation::none;
  bool starts_message = false;
  bool ends_message = false;
  bool has_payload = false;
  std::uint16_t extended = 0;      // Extended bits
  std::uint8_t extended_size = 0;  // bytes of those headers

  bool is_valid() const { return operation != Operation::none; }
  bool has(Extended header) const { return (extended & header) != 0; }
  // Where `header` begins, counted from the end of the BTH; has(header) must hold.
  std::size_t offset_of(Extended header) const;
  // Flows from requester to responder.
  bool is_request() const {
    return is_valid() && operation != Operation::read_response && operation != Operation::acknowledge &&
           operation != Operation::atomic_acknowledge && operation != Operation::congestion_notification;
  }
  bool is_read_response() const { return operation == Operation::read_response; }
};

namespace opcode {
constexpr std::uint8_t kRcSendFirst = 0x00, kRcSendMiddle = 0x01, kRcSendLast = 0x02, kRcSendLastImm = 0x03,
                       kRcSendOnly = 0x04, kRcSendOnlyImm = 0x05, kRcWriteFirst = 0x06, kRcWriteMiddle = 0x07,
                       kRcWriteLast = 0x08, kRcWriteLastImm = 0x09, kRcWriteOnly = 0x0A,
                       kRcWriteOnlyImm = 0x0B, kRcReadRequest = 0x0C, kRcReadResponseFirst = 0x0D,
                       kRcReadResponseMiddle = 0x0E, kRcReadResponseLast = 0x0F, kRcReadResponseOnly = 0x10,
                       kRcAcknowledge = 0x11, kRcAtomicAcknowledge = 0x12, kRcCompareSwap = 0x13,
                       kRcFetchAdd = 0x14, kRcSendLastInvalidate = 0x16, kRcSendOnlyInvalidate = 0x17,
                       kUdSendOnly = 0x64, kUdSendOnlyImm = 0x65, kCnp = 0x81;
}  // namespace opcode

// One row for each of the 256 values.
extern const std::array<OpcodeInfo, 256> kOpcodeTable;
inline const OpcodeInfo& info_of(std::uint8_t opcode) { return kOpcodeTable[opcode]; }
// Size in bytes of one extended header.
std::size_t size_of(Extended header);

}  // namespace rocetune::wire
