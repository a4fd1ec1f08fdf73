// What travels through the fabric: the real header bytes that an endpoint wrote, the name of its payload, and
// apart from them what every hop looks at, so that a switch touches half a cache line of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "congestion/pfc.h"
#include "dataplane/engine/frame.h"

namespace rocetune::fabric {

using NodeId = std::uint32_t;
using PacketIndex = std::uint32_t;
constexpr PacketIndex kNoPacket = 0xFFFFFFFF;

// Place of a priority in arrays that have one entry for each.
inline std::size_t index_of(Priority p) { return static_cast<std::size_t>(p.value()); }

// neighbour: a message of a job to another host of the same server, as a whole.
enum class PacketKind : std::uint8_t { roce, pause, credit, neighbour };

// What the two ends of a link tell each other about room, in frames of their own that no queue holds up.
struct LinkMessage {
  PfcMessage pause;             // kind pause
  Priority lane;                // kind credit: of this lane
  std::int64_t limit = 0;       // so many bytes may have been sent since the beginning
  std::uint32_t part = 0;       // kind neighbour: which of the receiver's parts it is for
  std::uint32_t immediate = 0;  // likewise: what it says
};

// What every hop looks at: half a cache line.
struct alignas(32) Packet {
  PacketIndex index = kNoPacket;  // its own
  std::uint32_t wire_bytes = 0;   // what it takes of a link, framing included
  std::uint32_t flow_hash = 0;    // of addresses, protocol and UDP ports
  NodeId destination = 0;
  PacketIndex next = kNoPacket;    // in the queue it stands in
  std::uint16_t ingress_port = 0;  // of the switch it is in
  std::uint8_t ingress_priority = 0;
  PacketKind kind = PacketKind::roce;
  Dscp dscp;
  Ecn ecn = Ecn::not_ect;
  std::uint8_t hops = 0;  // switches passed: what is taken off the TTL
  bool ce_echo = false;   // ACK: its sender saw a CE mark since the last one (HPCC's semantics)
};
static_assert(sizeof(Packet) == 32);

// What only its ends look at.
struct PacketBody {
  // Ethernet, IPv4, UDP, BTH and what of extended headers WRITEs and their answers have, ICRC.
  static constexpr std::size_t kHeaderRoom = 80;
  union {
    std::array<std::byte, kHeaderRoom> header;  // kind roce, and so is what follows
    LinkMessage link;                           // the others
  };
  std::uint64_t identity = 0;         // of the payload
  std::uint64_t offset : 44 = 0;      // likewise
  std::uint64_t length : 13 = 0;      // likewise: a path MTU at most; 0: none
  std::uint64_t header_size : 7 = 0;  // without ICRC

  PacketBody() : link() {}
  engine::SyntheticContent content() const { return {identity, offset, static_cast<std::uint32_t>(length)}; }
  void set_content(const engine::SyntheticContent& content) {
    ROCETUNE_ASSERT(content.offset <= kMostOffset && content.length <= kMostLength);
    identity = content.identity;
    offset = content.offset & kMostOffset;
    length = content.length & kMostLength;
  }

 private:
  static constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 44) - 1;
  static constexpr std::uint64_t kMostLength = (std::uint64_t{1} << 13) - 1;
};
static_assert(sizeof(PacketBody) == 96);

// Packets by index, in pages that never move. Any lane may reach any packet; that a page is there is known by
// whoever was given one of its packets.
class PacketPages {
 public:
  static constexpr unsigned kPageBits = 10;
  static constexpr PacketIndex kPage = PacketIndex{1} << kPageBits;
  struct Page {
    std::array<Packet, kPage> heads;
    std::array<PacketBody, kPage> bodies;
  };
  PacketPages() : pages_(std::make_unique<std::unique_ptr<Page>[]>(kMost)) {}
  Packet& operator[](PacketIndex index) { return page(index).heads[index % kPage]; }
  PacketBody& body(PacketIndex index) { return page(index).bodies[index % kPage]; }
  // The first packet of a new page. Several lanes at once may ask.
  PacketIndex add() {
    const std::size_t number = count_++;
    ROCETUNE_ASSERT(number < kMost);
    pages_[number] = std::make_unique<Page>();
    const auto first = static_cast<PacketIndex>(number << kPageBits);
    for (PacketIndex i = 0; i < kPage; ++i) pages_[number]->heads[i].index = first + i;
    return first;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;  // 64 million packets under way
  Page& page(PacketIndex index) { return *pages_[index >> kPageBits]; }
  std::unique_ptr<std::unique_ptr<Page>[]> pages_;
  std::atomic<std::size_t> count_ = 0;
};

// The free packets of one lane. Packets that end here stay here, wherever they began.
class PacketPool {
 public:
  explicit PacketPool(PacketPages& pages) : pages_(pages) {}
  Packet& take() {
    if (free_ == kNoPacket) grow();
    Packet& packet = pages_[free_];
    free_ = packet.next;
    return packet;
  }
  void give_back(Packet& packet) {
    packet.next = free_;
    free_ = packet.index;
  }
  Packet& operator[](PacketIndex index) { return pages_[index]; }
  PacketBody& body(const Packet& packet) { return pages_.body(packet.index); }
  // The packet, if there is one, is about to be looked at.
  void prefetch(PacketIndex index) {
    if (index != kNoPacket) __builtin_prefetch(&pages_[index], 1);
  }
  void prefetch_body(PacketIndex index) {
    if (index == kNoPacket) return;
    const auto* body = reinterpret_cast<const std::byte*>(&pages_.body(index));
    for (std::size_t at = 0; at < sizeof(PacketBody); at += 64) __builtin_prefetch(body + at, 1);
  }

 private:
  void grow() {
    const PacketIndex first = pages_.add();
    for (PacketIndex i = PacketPages::kPage; i-- > 0;) give_back(pages_[first + i]);
  }
  PacketPages& pages_;
  PacketIndex free_ = kNoPacket;
};

// A first-in-first-out queue of packets, chained through them.
struct PacketQueue {
  PacketIndex head = kNoPacket;
  PacketIndex tail = kNoPacket;
  std::uint32_t packets = 0;
  std::int64_t bytes = 0;

  bool is_empty() const { return head == kNoPacket; }
  void push(PacketPool& pool, Packet& packet) {
    packet.next = kNoPacket;
    (is_empty() ? head : pool[tail].next) = packet.index;
    tail = packet.index;
    ++packets;
    bytes += packet.wire_bytes;
  }
  // The first one; there must be one.
  Packet& pop(PacketPool& pool) {
    Packet& packet = pool[head];
    head = packet.next;
    pool.prefetch(head);
    --packets;
    bytes -= packet.wire_bytes;
    return packet;
  }
};

}  // namespace rocetune::fabric
