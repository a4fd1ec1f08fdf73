// The base transport header and every extended header of InfiniBand, as RoCE carries them. Each has its size,
// parse (of exactly that many bytes, which cannot fail) and emit. Source: InfiniBand architecture
// specification, volume 1, chapter 9; annexes A14, A17, A19.
#pragma once

#include "dataplane/wire/bytes.h"
#include "dataplane/wire/psn.h"

namespace rocetune::wire {

struct Bth {
  static constexpr std::size_t kSize = 12;
  std::uint8_t opcode = 0;
  bool solicited = false;            // SE
  bool migration = false;            // MigReq
  std::uint8_t pad = 0;              // 0..3 bytes behind the payload
  std::uint8_t version = 0;          // TVer
  std::uint16_t partition = 0xFFFF;  // P_Key
  bool fecn = false;
  bool becn = false;
  Qpn destination;
  bool ack_request = false;
  Psn psn;
  bool operator==(const Bth&) const = default;
  // In whole words: every packet has one.
  static Bth parse(std::span<const std::byte, kSize> b) {
    const std::uint32_t head = load32(b, 0);
    const std::uint32_t qp = load32(b, 4);
    const std::uint32_t tail = load32(b, 8);
    return {.opcode = static_cast<std::uint8_t>(head >> 24),
            .solicited = (head & 0x800000) != 0,
            .migration = (head & 0x400000) != 0,
            .pad = static_cast<std::uint8_t>(head >> 20 & 3),
            .version = static_cast<std::uint8_t>(head >> 16 & 0xF),
            .partition = static_cast<std::uint16_t>(head),
            .fecn = (qp & 0x80000000) != 0,
            .becn = (qp & 0x40000000) != 0,
            .destination = Qpn(qp & 0xFFFFFF),
            .ack_request = (tail & 0x80000000) != 0,
            .psn = Psn(tail & Psn::kMask)};
  }
  void emit(std::span<std::byte, kSize> b) const {
    ROCETUNE_ASSERT(pad < 4 && version < 16);
    store32(b, 0,
            std::uint32_t{opcode} << 24 | std::uint32_t{solicited} << 23 | std::uint32_t{migration} << 22 |
                std::uint32_t{pad} << 20 | std::uint32_t{version} << 16 | partition);
    store32(b, 4, std::uint32_t{fecn} << 31 | std::uint32_t{becn} << 30 | destination.value());
    store32(b, 8, std::uint32_t{ack_request} << 31 | psn.value());
  }
};

// RDMA: where and how much.
struct Reth {
  static constexpr std::size_t kSize = 16;
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;  // bytes of the whole message
  bool operator==(const Reth&) const = default;
  static Reth parse(std::span<const std::byte, kSize> b) {
    return {load64(b, 0), load32(b, 8), load32(b, 12)};
  }
  void emit(std::span<std::byte, kSize> b) const {
    store64(b, 0, address);
    store32(b, 8, rkey);
    store32(b, 12, length);
  }
};

// What an AETH says. NAK codes as the specification names them.
enum class AckKind : std::uint8_t {
  ack,
  rnr_nak,
  nak_sequence,
  nak_invalid_request,
  nak_remote_access,
  nak_remote_operational,
  nak_invalid_rd_request,
  reserved,
};
struct Aeth {
  static constexpr std::size_t kSize = 4;
  static constexpr std::uint8_t kNoCredits = 0x1F;  // credit code: no end-to-end flow control
  // Syndromes of NAKs.
  static constexpr std::uint8_t kSequenceError = 0x60, kInvalidRequest = 0x61, kRemoteAccess = 0x62,
                                kRemoteOperational = 0x63;
  static constexpr std::uint8_t rnr(std::uint8_t timer_code) {
    return static_cast<std::uint8_t>(0x20 | (timer_code & 0x1F));
  }
  std::uint8_t syndrome = kNoCredits;
  std::uint32_t msn = 0;  // 24 bits
  bool operator==(const Aeth&) const = default;
  static Aeth parse(std::span<const std::byte, kSize> b) { return {load8(b, 0), load24(b, 1)}; }
  void emit(std::span<std::byte, kSize> b) const {
    ROCETUNE_ASSERT(msn <= 0xFFFFFF);
    store8(b, 0, syndrome);
    store24(b, 1, msn);
  }
  AckKind kind() const;
  // Low five bits: credit code of an ACK, timer code of an RNR NAK.
  std::uint8_t code() const { return syndrome & 0x1F; }
};
// Wait asked for by RNR timer code 0..31: 655.36 ms for 0, then 10 us to 491.52 ms.
Duration rnr_wait(std::uint8_t timer_code);
// Receive work requests that credit code 0..30 grants.
std::uint32_t credits(std::uint8_t credit_code);

struct ImmDt {
  static constexpr std::size_t kSize = 4;
  std::uint32_t data = 0;
  bool operator==(const ImmDt&) const = default;
  static ImmDt parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

struct AtomicEth {
  static constexpr std::size_t kSize = 28;
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  bool operator==(const AtomicEth&) const = default;
  static AtomicEth parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

struct AtomicAckEth {
  static constexpr std::size_t kSize = 8;
  std::uint64_t original = 0;
  bool operator==(const AtomicAckEth&) const = default;
  static AtomicAckEth parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

struct Ieth {
  static constexpr std::size_t kSize = 4;
  std::uint32_t rkey = 0;  // to invalidate
  bool operator==(const Ieth&) const = default;
  static Ieth parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

struct Deth {
  static constexpr std::size_t kSize = 8;
  std::uint32_t qkey = 0;
  Qpn source;
  bool operator==(const Deth&) const = default;
  static Deth parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

struct Xrceth {
  static constexpr std::size_t kSize = 4;
  std::uint32_t shared_receive_queue = 0;  // 24 bits
  bool operator==(const Xrceth&) const = default;
  static Xrceth parse(std::span<const std::byte, kSize>);
  void emit(std::span<std::byte, kSize>) const;
};

}  // namespace rocetune::wire
