// What travels through the fabric: the real header bytes that an endpoint wrote, the name of its payload, and
// apart from them what every hop looks at, so that a switch touches half a cache line of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
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
  static constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 40) - 1;
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
  // The rest is of kind roce, and only its ends look at it: how much of a header the body holds; of the
  // payload its length (0: none), and what of its offset is not in the body.
  std::uint8_t header_size = 0;
  std::uint8_t offset_high = 0;
  std::uint16_t payload_length = 0;
};
static_assert(sizeof(Packet) == 32);

// What only its ends look at.
struct PacketBody {
  // IPv4, UDP, BTH and what of extended headers WRITEs and their answers have. Not here: Ethernet, whose
  // header is the same for all, and the ICRC, which nobody looks at.
  static constexpr std::size_t kHeaderRoom = 60;
  std::array<std::byte, kHeaderRoom> header{};  // kind roce; of the others the message
  // Of the payload's name, kind roce: its identity as two halves, what fits of its offset.
  std::uint32_t identity_low = 0;
  std::uint32_t identity_high = 0;
  std::uint32_t offset_low = 0;
  Instant fetched;  // kind roce: when its NIC took it from the engine

  LinkMessage link() const {
    LinkMessage out;
    std::memcpy(&out, header.data(), sizeof(out));
    return out;
  }
  void set_link(const LinkMessage& message) { std::memcpy(header.data(), &message, sizeof(message)); }
};
static_assert(sizeof(PacketBody) == 80);
static_assert(sizeof(LinkMessage) <= PacketBody::kHeaderRoom && std::is_trivially_copyable_v<LinkMessage>);

inline void set_content(Packet& packet, PacketBody& body, const engine::SyntheticContent& content) {
  ROCETUNE_ASSERT(content.offset <= Packet::kMostOffset && content.length <= UINT16_MAX);
  body.identity_low = static_cast<std::uint32_t>(content.identity);
  body.identity_high = static_cast<std::uint32_t>(content.identity >> 32);
  body.offset_low = static_cast<std::uint32_t>(content.offset);
  packet.offset_high = static_cast<std::uint8_t>(content.offset >> 32);
  packet.payload_length = static_cast<std::uint16_t>(content.length);
}
inline engine::SyntheticContent content_of(const Packet& packet, const PacketBody& body) {
  return {.identity = std::uint64_t{body.identity_high} << 32 | body.identity_low,
          .offset = std::uint64_t{packet.offset_high} << 32 | body.offset_low,
          .length = packet.payload_length};
}

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
  PacketPages() : pages_(std::make_unique_for_overwrite<Page*[]>(kMost)) {}
  ~PacketPages() {
    for (std::size_t i = 0; i < count_; ++i) delete pages_[i];
  }
  PacketPages(const PacketPages&) = delete;
  PacketPages& operator=(const PacketPages&) = delete;
  Packet& operator[](PacketIndex index) { return page(index).heads[index % kPage]; }
  PacketBody& body(PacketIndex index) { return page(index).bodies[index % kPage]; }
  // The first packet of a new page. Several lanes at once may ask.
  PacketIndex add() {
    const std::size_t number = count_++;
    ROCETUNE_ASSERT(number < kMost);
    pages_[number] = std::make_unique<Page>().release();
    const auto first = static_cast<PacketIndex>(number << kPageBits);
    for (PacketIndex i = 0; i < kPage; ++i) pages_[number]->heads[i].index = first + i;
    return first;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;  // 64 million packets under way
  Page& page(PacketIndex index) { return *pages_[index >> kPageBits]; }
  std::unique_ptr<Page*[]> pages_;  // its own; written up to count_
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
