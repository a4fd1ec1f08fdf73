#include "dataplane/transport/soft/worker.h"

#include <gtest/gtest.h>

#include "dataplane/port/memory_port.h"
#include "dataplane/wire/roce_packet.h"

namespace rocetune::soft {
namespace {

const wire::IpAddress kOurs = wire::IpAddress::v4(0x0A000001);
const wire::IpAddress kTheirs = wire::IpAddress::v4(0x0A000002);

// A port into which a test puts frames, and which knows what was given back.
class ScriptedPort {
 public:
  std::size_t receive(std::span<port::ReceivedFrame> in) {
    const std::size_t count = std::min(in.size(), arriving.size());
    for (std::size_t i = 0; i < count; ++i) in[i] = {arriving[i], i};
    kept_.insert(kept_.end(), arriving.begin(), arriving.begin() + static_cast<std::ptrdiff_t>(count));
    arriving.erase(arriving.begin(), arriving.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  void release(std::span<const port::ReceivedFrame> done) { released += done.size(); }
  std::size_t reserve(std::span<port::TransmitBuffer> out) {
    for (port::TransmitBuffer& buffer : out)
      buffer = {room_.data(), static_cast<std::uint32_t>(room_.size()), 0, 0};
    return out.size();
  }
  std::size_t transmit(Instant, std::span<const port::TransmitBuffer> filled) {
    for (const port::TransmitBuffer& buffer : filled)
      sent.emplace_back(buffer.data, buffer.data + buffer.size);
    return filled.size();
  }
  void discard(std::span<const port::TransmitBuffer>) {}
  const port::Capabilities& capabilities() const { return capabilities_; }
  port::PortCounters counters() { return {}; }

  std::vector<wire::ConstBytes> arriving;
  std::vector<std::vector<std::byte>> sent;
  std::size_t released = 0;

 private:
  std::vector<wire::ConstBytes> kept_;
  std::array<std::byte, 8192> room_{};
  port::Capabilities capabilities_{.name = "scripted"};
};

struct Core {
  explicit Core(std::uint32_t shard = 0, std::uint32_t shard_bits = 0)
      : memory(1),
        endpoint({.queue_pairs = 4, .memory_regions = 1, .shard = shard, .shard_bits = shard_bits}, memory),
        neighbours({{2, 0, 0, 0, 0, 1}}, {kOurs}),
        worker(port, endpoint, memory, neighbours, clock) {}
  ScriptedPort port;
  engine::HostMemory memory;
  engine::Endpoint endpoint;
  port::Neighbours neighbours;
  TickClock clock;
  Worker<ScriptedPort> worker;
};

std::vector<std::byte> roce_frame(std::uint32_t qpn) {
  const wire::PathHeaders headers({.source = kTheirs, .destination = kOurs});
  std::vector<std::byte> frame(headers.size() + wire::Bth::kSize + wire::Aeth::kSize + wire::kIcrcSize);
  headers.emit(frame, wire::Bth::kSize + wire::Aeth::kSize);
  const wire::Bth bth{.opcode = wire::opcode::kRcAcknowledge, .destination = wire::Qpn(qpn)};
  bth.emit(wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame), headers.size()));
  return frame;
}

TEST(Worker, AnswersArpAndKeepsItFromTheEndpoint) {
  Core core;
  port::Neighbours asker({{2, 0, 0, 0, 0, 2}}, {kTheirs});
  std::array<std::byte, port::Neighbours::kLargestFrame> question;
  core.port.arriving = {std::span(question).first(asker.ask(kOurs, question))};
  core.worker.receive();
  ASSERT_EQ(core.port.sent.size(), 1U);
  EXPECT_GE(core.port.sent[0].size(), 60U);
  std::array<std::byte, port::Neighbours::kLargestFrame> nothing;
  asker.on_frame(core.port.sent[0], nothing);
  EXPECT_EQ(asker.find(kOurs), (wire::MacAddress{{2, 0, 0, 0, 0, 1}}));
  EXPECT_EQ(core.endpoint.statistics().rx_frames, 0U);
  EXPECT_EQ(core.port.released, 1U);
}

TEST(Worker, GivesEveryBufferBack) {
  Core core;
  const auto frame = roce_frame(17);
  core.port.arriving.assign(40, frame);
  core.worker.receive();
  core.worker.receive();
  EXPECT_EQ(core.endpoint.statistics().rx_frames, 40U);
  EXPECT_EQ(core.port.released, 40U);
}

TEST(Worker, ALongGapBetweenTurnsIsAPause) {
  Core core;
  core.worker.receive();
  const std::uint64_t before = core.worker.counters().pauses;
  const Instant start = core.clock.now();
  while (core.clock.now() - start < 2 * Worker<ScriptedPort>::kPause) {
  }
  core.worker.receive();
  EXPECT_EQ(core.worker.counters().pauses, before + 1);
  EXPECT_GE(core.worker.counters().paused, 2 * Worker<ScriptedPort>::kPause);
}

TEST(Worker, PassesOtherShardsFramesToThem) {
  HandOff hand_off(2);
  Core first(0, 1), second(1, 1);
  first.worker.join(hand_off, 0);
  second.worker.join(hand_off, 1);
  const auto ours = roce_frame(0x000011);
  const auto others = roce_frame(0x800011);
  first.port.arriving = {others, ours, others};
  first.worker.receive();
  EXPECT_EQ(first.endpoint.statistics().rx_frames, 1U);
  EXPECT_EQ(first.worker.counters().handed_over, 2U);
  EXPECT_EQ(first.port.released, 1U);
  second.worker.receive();
  EXPECT_EQ(second.endpoint.statistics().rx_frames, 2U);
  EXPECT_EQ(second.port.released, 2U);
}

}  // namespace
}  // namespace rocetune::soft
