#include "dataplane/port/fault_injector.h"

#include <gtest/gtest.h>

#include "dataplane/port/memory_port.h"
#include "dataplane/wire/path_headers.h"
#include "dataplane/wire/roce_packet.h"

namespace rocetune::port {
namespace {

static_assert(PacketPort<FaultInjector<MemoryPort>>);

// A bad network with numbered frames: RoCE ACKs whose PSN is the number.
class Network {
 public:
  explicit Network(std::string_view faults, std::size_t buffers = 256, bool v6 = false)
      : link_({.buffers = buffers}),
        injector_(link_.left(), parse_fault_plan(faults, "test").value()),
        path_(path(v6)) {}

  FaultInjector<MemoryPort>& injector() { return injector_; }
  Instant now() const { return now_; }
  void advance(Duration span) { now_ = now_ + span; }

  // Sends `count` frames in one burst.
  void send(int count) {
    std::vector<TransmitBuffer> burst(static_cast<std::size_t>(count));
    ASSERT_EQ(injector_.reserve(burst), burst.size());
    for (TransmitBuffer& buffer : burst) {
      const wire::Bth bth{
          .opcode = wire::opcode::kRcAcknowledge, .destination = wire::Qpn(17), .psn = wire::Psn(next_++)};
      buffer.size = kFrameSize(path_);
      path_.emit(buffer.bytes(), wire::Bth::kSize + wire::Aeth::kSize);
      const wire::MutableBytes transport = buffer.bytes().subspan(path_.size());
      bth.emit(wire::fixed<wire::Bth::kSize>(transport));
      wire::Aeth{.msn = 1}.emit(wire::fixed<wire::Aeth::kSize>(transport, wire::Bth::kSize));
      const std::size_t body = wire::Bth::kSize + wire::Aeth::kSize;
      wire::store_icrc(transport, body, path_.icrc().icrc(transport.first(body)));
    }
    injector_.transmit(now_, burst);
  }
  // Nothing to send, but time passed.
  void poll() { injector_.transmit(now_, {}); }

  struct Arrival {
    std::uint32_t number = 0;
    wire::IcrcState icrc = wire::IcrcState::unknown;
    Ecn ecn = Ecn::not_ect;
    bool checksum_is_right = false;
  };
  std::vector<Arrival> arrivals() {
    std::vector<Arrival> out;
    std::array<ReceivedFrame, kMaxBurst> in;
    while (const std::size_t n = link_.right().receive(in)) {
      for (const ReceivedFrame& frame : std::span(in).first(n)) out.push_back(arrival(frame.bytes));
      link_.right().release(std::span(in).first(n));
    }
    return out;
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> out;
    for (const Arrival& arrival : arrivals()) out.push_back(arrival.number);
    return out;
  }

 private:
  static wire::PathHeaders path(bool v6) {
    wire::Path path{.source = wire::IpAddress::v4(0x0A000001),
                    .destination = wire::IpAddress::v4(0x0A000002)};
    if (v6) {
      path.source = {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
      path.destination = {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
    }
    return wire::PathHeaders(path);
  }
  static std::uint32_t kFrameSize(const wire::PathHeaders& path) {
    return static_cast<std::uint32_t>(path.size() + wire::Bth::kSize + wire::Aeth::kSize + wire::kIcrcSize);
  }
  static Arrival arrival(wire::ConstBytes frame) {
    const auto ethernet = wire::EthernetHeader::parse(frame);
    const wire::ConstBytes packet = frame.subspan(ethernet->size());
    const auto roce = wire::RocePacket::parse(ethernet->type, packet);
    if (!roce) return {};
    const bool v4 = roce->network == wire::NetworkHeader::ipv4;
    return {roce->bth.psn.value(), roce->icrc_state(), roce->tos.ecn(),
            !v4 || wire::internet_checksum(packet.first(wire::Ipv4Header::kSize)) == 0};
  }

  MemoryLink link_;
  FaultInjector<MemoryPort> injector_;
  wire::PathHeaders path_;
  std::uint32_t next_ = 0;
  Instant now_;
};

using Numbers = std::vector<std::uint32_t>;

TEST(FaultInjector, WithoutFaultsEverythingPasses) {
  Network network("");
  network.send(5);
  EXPECT_EQ(network.numbers(), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(network.injector().faults(), (FaultCounters{.frames = 5}));
}

TEST(FaultInjector, LosesTheFramesItIsToldTo) {
  Network network("loss=#1,3");
  network.send(5);
  EXPECT_EQ(network.numbers(), (Numbers{0, 2, 4}));
  EXPECT_EQ(network.injector().faults().lost, 2U);
}

TEST(FaultInjector, LostFramesGiveTheirBuffersBack) {
  Network network("loss=x", 4);
  for (int i = 0; i < 10; ++i) network.send(4);
  EXPECT_EQ(network.injector().faults().lost, 40U);
}

TEST(FaultInjector, DuplicateFollowsItsOriginal) {
  Network network("duplicate=.x");
  network.send(3);
  EXPECT_EQ(network.numbers(), (Numbers{0, 1, 1, 2}));
  EXPECT_EQ(network.injector().faults().duplicated, 1U);
}

TEST(FaultInjector, ReorderedFrameLetsThatManyPass) {
  Network network("reorder=#0:2");
  network.send(4);
  EXPECT_EQ(network.numbers(), (Numbers{1, 2, 0, 3}));
}

TEST(FaultInjector, ReorderedFrameDoesNotWaitForEver) {
  Network network("reorder=#0:2");
  network.send(1);
  EXPECT_EQ(network.numbers(), Numbers{});
  EXPECT_EQ(network.injector().next_due(), network.now() + kReorderPatience);
  network.advance(kReorderPatience);
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{0});
}

TEST(FaultInjector, DelayedFrameComesWhenItIsDue) {
  Network network("delay=#0:20us");
  network.send(2);
  EXPECT_EQ(network.numbers(), Numbers{1});
  network.advance(microseconds(19));
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{});
  network.advance(microseconds(1));
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{0});
  EXPECT_EQ(network.injector().next_due(), Instant::never());
}

TEST(FaultInjector, CorruptionIsSeenByTheIcrcOrTheHeaders) {
  Network network("corrupt=x seed=3");
  network.send(200);
  int noticed = 0;
  for (const auto& arrival : network.arrivals()) noticed += arrival.icrc != wire::IcrcState::ok ? 1 : 0;
  // A flipped bit of the few bytes that the ICRC leaves out passes it.
  EXPECT_EQ(network.injector().faults().corrupted, 200U);
  EXPECT_GT(noticed, 150);
}

TEST(FaultInjector, MarksCeWithRightChecksumAndIcrc) {
  for (const bool v6 : {false, true}) {
    Network network("ce=#1", 256, v6);
    network.send(2);
    const auto arrivals = network.arrivals();
    ASSERT_EQ(arrivals.size(), 2U);
    EXPECT_EQ(arrivals[0].ecn, Ecn::ect0);
    EXPECT_EQ(arrivals[1].ecn, Ecn::ce);
    EXPECT_EQ(arrivals[1].icrc, wire::IcrcState::ok);
    EXPECT_TRUE(arrivals[1].checksum_is_right);
  }
}

TEST(FaultInjector, RateSpacesFramesByTheirWireTime) {
  // An ACK frame is 62 bytes, on the wire 86: 86 ns at 8 Gb/s.
  Network network("rate=8Gbps");
  network.send(3);
  EXPECT_EQ(network.numbers(), Numbers{});
  network.advance(nanoseconds(86));
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{0});
  network.advance(nanoseconds(2 * 86 - 1));
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{1});
  network.advance(nanoseconds(1));
  network.poll();
  EXPECT_EQ(network.numbers(), Numbers{2});
}

TEST(FaultInjector, QueueInFrontOfTheRateIsBounded) {
  // Frame n finds 86·n bytes in the queue.
  Network network("rate=8Gbps:300B");
  network.send(10);
  EXPECT_EQ(network.injector().faults().queue_full, 6U);
  network.advance(microseconds(10));
  network.poll();
  EXPECT_EQ(network.numbers(), (Numbers{0, 1, 2, 3}));
}

TEST(FaultInjector, MarksWhileTheQueueIsLong) {
  Network network("rate=8Gbps mark=200B");
  network.send(5);
  network.advance(microseconds(10));
  network.poll();
  std::vector<bool> marked;
  for (const auto& arrival : network.arrivals()) marked.push_back(arrival.ecn == Ecn::ce);
  EXPECT_EQ(marked, (std::vector<bool>{false, false, false, true, true}));
}

TEST(FaultInjector, HoldsNoMoreThanHalfOfTheBuffers) {
  Network network("delay=x:1s", 8);
  network.send(4);
  network.send(4);
  EXPECT_EQ(network.injector().faults().hold_full, 4U);
}

TEST(FaultInjector, SameSeedSameFate) {
  Network a("loss=30% duplicate=10% reorder=5%:2 seed=42");
  Network b("loss=30% duplicate=10% reorder=5%:2 seed=42");
  Network c("loss=30% duplicate=10% reorder=5%:2 seed=43");
  for (Network* network : {&a, &b, &c}) network->send(100);
  const Numbers fate = a.numbers();
  EXPECT_EQ(b.numbers(), fate);
  EXPECT_NE(c.numbers(), fate);
}

TEST(FaultInjector, HeldFramesComeBackToThePortAtTheEnd) {
  MemoryLink link({.buffers = 2});
  {
    FaultInjector injector(link.left(), parse_fault_plan("delay=x:1s", "test").value());
    TransmitBuffer buffer;
    ASSERT_EQ(injector.reserve({&buffer, 1}), 1U);
    buffer.size = 60;
    injector.transmit(Instant(), {&buffer, 1});
  }
  std::array<TransmitBuffer, 2> all;
  EXPECT_EQ(link.left().reserve(all), 2U);
}

}  // namespace
}  // namespace rocetune::port
