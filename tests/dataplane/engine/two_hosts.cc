#include "tests/dataplane/engine/two_hosts.h"

#include <algorithm>

#include "dataplane/base/random.h"

namespace rocetune::engine {

wire::RocePacket packet_of(const Frame& frame) {
  const auto ethernet = wire::EthernetHeader::parse(frame);
  const auto packet =
      wire::RocePacket::parse(ethernet->type, wire::ConstBytes(frame).subspan(ethernet->size()));
  ROCETUNE_ASSERT(packet.has_value());
  return *packet;
}

void reseal(Frame& frame) {
  const wire::RocePacket packet = packet_of(frame);
  const std::size_t at = packet.wire_size - wire::kIcrcSize;
  const std::uint32_t icrc = wire::icrc_of(packet.bytes.first(at), packet.network, packet.transport);
  wire::store_icrc(frame, frame.size() - wire::kIcrcSize, icrc);
}

Host::Host(std::uint32_t address, const EndpointOptions& options)
    : ip(wire::IpAddress::v4(0xC0000200 + address)),
      storage(kSize),
      memory(options.memory_regions),
      endpoint(options, memory) {
  key = endpoint
            .add_region({.address = kBase,
                         .length = kSize,
                         .access = kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic,
                         .location = HostMemory::location_of(storage.data())})
            .value();
  qpn = endpoint.create({}).value();
}

std::uint64_t Host::word(std::uint32_t offset) const {
  std::uint64_t value = 0;
  std::memcpy(&value, storage.data() + offset, sizeof(value));
  return value;
}
void Host::set_word(std::uint32_t offset, std::uint64_t value) {
  std::memcpy(storage.data() + offset, &value, sizeof(value));
}

void Host::fill(std::uint32_t offset, std::uint32_t length, std::uint32_t seed) {
  std::uint64_t state = seed;
  for (std::byte& b : bytes(offset, length)) b = static_cast<std::byte>(splitmix64(state));
}

std::vector<Frame> Host::take(Instant now, bool holds_memory) {
  std::vector<Frame> taken;
  std::array<TransmitFrame, 8> frames;
  while (const std::size_t n = endpoint.poll_transmit(now, frames)) {
    for (std::size_t i = 0; i < n; ++i) {
      taken.emplace_back(frames[i].size());
      seal(frames[i], memory, taken.back());
    }
    if (!holds_memory) endpoint.on_transmitted(frames[n - 1].ticket);
  }
  return taken;
}

void Host::give(Instant now, const Frame& frame) {
  const ReceivedFrame received{frame};
  endpoint.on_frames(now, {&received, 1});
}
void Host::give(Instant now, const std::vector<Frame>& frames) {
  std::vector<ReceivedFrame> received;
  for (const Frame& frame : frames) received.push_back({frame});
  endpoint.on_frames(now, received);
}

std::vector<Completion> Host::completions() {
  std::vector<Completion> all;
  Completion completion;
  while (endpoint.poll_completion(completion)) all.push_back(completion);
  return all;
}

void TwoHosts::connect(const std::function<void(ConnectParameters&)>& change) {
  const auto join = [&](Host& host, const Host& peer, wire::Psn psn, wire::Psn peer_psn) {
    ConnectParameters parameters{.path = {.source = host.ip, .destination = peer.ip},
                                 .peer = peer.qpn,
                                 .psn = psn,
                                 .peer_psn = peer_psn};
    if (change) change(parameters);
    // The peer's numbers are the other way round, also when changed.
    const auto connected = host.endpoint.connect(host.qpn, parameters);
    ROCETUNE_ASSERT(connected.has_value());
  };
  join(a, b, wire::Psn(100), wire::Psn(2000));
  join(b, a, wire::Psn(2000), wire::Psn(100));
}

void TwoHosts::settle(const std::function<bool(const Frame&)>& drops) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      std::vector<Frame> frames = from->take(now);
      moved = moved || !frames.empty();
      if (drops) std::erase_if(frames, drops);
      to->give(now, frames);
    }
  }
}

bool TwoHosts::advance(const std::function<bool(const Frame&)>& drops) {
  // A timer may be announced early; go on until one had something to do.
  while (!a.endpoint.has_frames() && !b.endpoint.has_frames()) {
    const Instant next = std::min(a.endpoint.next_timeout(), b.endpoint.next_timeout());
    if (next == Instant::never()) return false;
    now = std::max(now, next);
    a.endpoint.on_timeout(now);
    b.endpoint.on_timeout(now);
  }
  settle(drops);
  return true;
}

}  // namespace rocetune::engine
