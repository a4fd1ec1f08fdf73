// Pacing by the controller, CNPs there and back, round-trip samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

using ::testing::SizeIs;

EndpointOptions with(ControllerChoice::Kind kind) {
  EndpointOptions options;
  options.controller.kind = kind;
  return options;
}

class Congestion : public ::testing::Test {
 protected:
  static void write(Host& host, const Host& peer, std::uint32_t length) {
    ASSERT_TRUE(host.endpoint.post_send(host.qpn, {.kind = SendKind::write,
                                                   .local = host.buffer(0, length),
                                                   .remote_address = Host::kBase,
                                                   .remote_key = peer.key}));
  }
  static Frame marked(Frame frame) {
    frame[15] |= std::byte{3};
    return frame;
  }
  // Wire bytes that leave within `span`, polled whenever a timer says so.
  static std::int64_t bytes_within(TwoHosts& hosts, Duration span) {
    const Instant end = hosts.now + span;
    std::int64_t bytes = 0;
    while (true) {
      for (const Frame& frame : hosts.a.take(hosts.now)) bytes += static_cast<std::int64_t>(frame.size());
      const Instant next = hosts.a.endpoint.next_timeout();
      if (next > end) return bytes;
      hosts.now = std::max(next, hosts.now);
      hosts.a.endpoint.on_timeout(hosts.now);
    }
  }
};

TEST_F(Congestion, FixedRateIsKept) {
  TwoHosts hosts([] {
    EndpointOptions options = with(ControllerChoice::Kind::fixed);
    options.controller.fixed_rate = gigabits_per_second(2);
    return options;
  }());
  hosts.connect([](ConnectParameters& p) { p.ack_timeout = 0; });
  write(hosts.a, hosts.b, Host::kSize);
  const std::int64_t bytes = bytes_within(hosts, microseconds(400));
  EXPECT_NEAR(static_cast<double>(bytes), 2e9 / 8 * 400e-6, 1100);
}

// 1048 bytes around 1024 of payload are what the pace counts: as many frames fewer as they are longer.
TEST_F(Congestion, TheLengthThatThePaceCountsMayBeAnother) {
  const auto frames = [](std::optional<Bytes> around_payload) {
    EndpointOptions options = with(ControllerChoice::Kind::fixed);
    options.controller.fixed_rate = gigabits_per_second(2);
    options.pace.around_payload = around_payload;
    TwoHosts hosts(options);
    hosts.connect([](ConnectParameters& p) { p.ack_timeout = 0; });
    write(hosts.a, hosts.b, Host::kSize);
    return bytes_within(hosts, microseconds(400)) / 1082;
  };
  EXPECT_NEAR(static_cast<double>(frames(Bytes(1024))),
              static_cast<double>(frames(std::nullopt)) * 1082 / 2048, 1.5);
}

TEST_F(Congestion, ReadResponsesArePacedToo) {
  EndpointOptions options = with(ControllerChoice::Kind::fixed);
  options.controller.fixed_rate = gigabits_per_second(2);
  TwoHosts hosts(options);
  hosts.connect([](ConnectParameters& p) { p.ack_timeout = 0; });
  ASSERT_TRUE(hosts.b.endpoint.post_send(hosts.b.qpn, {.kind = SendKind::read,
                                                       .local = hosts.b.buffer(0, 100'000),
                                                       .remote_address = Host::kBase,
                                                       .remote_key = hosts.a.key}));
  hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  EXPECT_NEAR(static_cast<double>(bytes_within(hosts, microseconds(200))), 2e9 / 8 * 200e-6, 1100);
}

TEST_F(Congestion, UncontrolledAtLineRateIsNotPaced) {
  TwoHosts hosts(with(ControllerChoice::Kind::off));
  hosts.connect();
  write(hosts.a, hosts.b, Host::kSize);
  EXPECT_THAT(hosts.a.take(hosts.now), SizeIs(Host::kSize / 1024));
}

TEST_F(Congestion, AMarkBringsOneCnpPerInterval) {
  TwoHosts hosts;
  hosts.connect();
  write(hosts.a, hosts.b, 5000);
  const auto frames = hosts.a.take(hosts.now);
  for (const Frame& frame : frames) hosts.b.give(hosts.now, marked(frame));
  const auto answers = hosts.b.take(hosts.now);
  ASSERT_THAT(answers, SizeIs(2));
  const wire::RocePacket cnp = packet_of(answers[0]);
  EXPECT_EQ(cnp.bth.opcode, wire::opcode::kCnp);
  EXPECT_TRUE(cnp.bth.becn);
  EXPECT_EQ(cnp.bth.destination, hosts.a.qpn);
  EXPECT_EQ(cnp.tos, TosByte(Dscp(48), Ecn::ect0));
  EXPECT_EQ(cnp.icrc_state(), wire::IcrcState::ok);
  EXPECT_EQ(answers[0].size(), 14U + 60U);
  EXPECT_EQ(wire::internet_checksum(cnp.bytes.first(20)), 0);
  EXPECT_EQ(hosts.b.endpoint.statistics().rx_ce_packets, 5);
  EXPECT_EQ(hosts.b.endpoint.statistics().cnps_sent, 1);
}

TEST_F(Congestion, TheCnpTravelsWithItsOwnPriority) {
  TwoHosts hosts;
  hosts.connect([](ConnectParameters& p) { p.path.vlan = wire::VlanTag{.pcp = Priority(3), .id = 100}; });
  write(hosts.a, hosts.b, 4);
  Frame frame = hosts.a.take(hosts.now).at(0);
  frame[19] |= std::byte{3};  // ToS, behind the tag
  hosts.b.give(hosts.now, frame);
  const Frame cnp = hosts.b.take(hosts.now).at(0);
  const auto ethernet = wire::EthernetHeader::parse(cnp);
  EXPECT_EQ(ethernet->pcp(), Priority(6));
  EXPECT_EQ(ethernet->tags[0].id, 100);
}

TEST_F(Congestion, ACnpCutsTheRate) {
  TwoHosts hosts(with(ControllerChoice::Kind::dcqcn));
  hosts.connect();
  write(hosts.a, hosts.b, 4);
  hosts.b.give(hosts.now, marked(hosts.a.take(hosts.now).at(0)));
  const BitRate before = *hosts.a.endpoint.rate(hosts.a.qpn);
  hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  EXPECT_LT(*hosts.a.endpoint.rate(hosts.a.qpn), before);
  EXPECT_EQ(hosts.a.endpoint.statistics().cnps_handled, 1);
}

// At 1 Mb/s the second frame would wait 8.7 ms; recovery begins after 300 us.
TEST_F(Congestion, ALowRateRisesWhileAFrameWaits) {
  const auto bytes = [](bool follows_rate) {
    EndpointOptions options = with(ControllerChoice::Kind::dcqcn);
    options.controller.dcqcn.rate_on_first_cnp = megabits_per_second(1);
    options.pace.follows_rate = follows_rate;
    TwoHosts hosts(options);
    hosts.connect([](ConnectParameters& p) { p.ack_timeout = 0; });
    write(hosts.a, hosts.b, 4);
    hosts.b.give(hosts.now, marked(hosts.a.take(hosts.now).at(0)));
    hosts.a.give(hosts.now, hosts.b.take(hosts.now));
    write(hosts.a, hosts.b, 100'000);
    return bytes_within(hosts, milliseconds(2));
  };
  EXPECT_GT(bytes(true), 50'000);
  EXPECT_LT(bytes(false), 2'000);
}

TEST_F(Congestion, FixedWindowNotificationComesAtTheWindowsEnd) {
  EndpointOptions options;
  options.notification.mode = dcqcn::NotificationPointParameters::Mode::fixed_window;
  options.notification.minimum_time_between_cnps = microseconds(50);
  TwoHosts hosts(options);
  hosts.connect();
  write(hosts.a, hosts.b, 4);
  hosts.b.give(hosts.now, marked(hosts.a.take(hosts.now).at(0)));
  EXPECT_THAT(hosts.b.take(hosts.now), SizeIs(1));  // the acknowledgement
  const Instant marked_at = hosts.now;
  while (!hosts.b.endpoint.has_frames()) {
    hosts.now = hosts.b.endpoint.next_timeout();
    ASSERT_LE(hosts.now, marked_at + microseconds(60));
    hosts.b.endpoint.on_timeout(hosts.now);
  }
  const auto cnp = hosts.b.take(hosts.now);
  ASSERT_THAT(cnp, SizeIs(1));
  EXPECT_EQ(packet_of(cnp[0]).bth.opcode, wire::opcode::kCnp);
}

TEST_F(Congestion, RoundTripTimesReachTheController) {
  for (const bool paused : {false, true}) {
    TwoHosts hosts(with(ControllerChoice::Kind::swift));
    hosts.connect();
    write(hosts.a, hosts.b, 4);
    const auto frames = hosts.a.take(hosts.now);
    hosts.now = hosts.now + milliseconds(5);
    if (paused) hosts.a.endpoint.on_pause();
    const BitRate before = *hosts.a.endpoint.rate(hosts.a.qpn);
    hosts.b.give(hosts.now, frames);
    hosts.a.give(hosts.now, hosts.b.take(hosts.now));
    if (paused) {
      EXPECT_EQ(*hosts.a.endpoint.rate(hosts.a.qpn), before);
    } else {
      EXPECT_LT(*hosts.a.endpoint.rate(hosts.a.qpn), before);
    }
  }
}

TEST_F(Congestion, AWindowIsKeptAndWhatFillsItAsksForAnAcknowledgement) {
  EndpointOptions options = with(ControllerChoice::Kind::swift);
  options.controller.swift.maximum_window = 2000;  // two packets
  TwoHosts hosts(options);
  hosts.connect([](ConnectParameters& p) { p.ack_timeout = 0; });
  write(hosts.a, hosts.b, 10 * 1024);
  std::vector<Frame> first;
  for (int i = 0; i < 100; ++i) {
    hosts.now = hosts.now + microseconds(10);
    hosts.a.endpoint.on_timeout(hosts.now);
    for (Frame& frame : hosts.a.take(hosts.now)) first.push_back(std::move(frame));
  }
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_TRUE(packet_of(first[1]).bth.ack_request);
  hosts.b.give(hosts.now, first);
  hosts.a.give(hosts.now, hosts.b.take(hosts.now));
  EXPECT_FALSE(hosts.a.take(hosts.now).empty());
}

}  // namespace
}  // namespace rocetune::engine
