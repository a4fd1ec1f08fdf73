// Acknowledgements that let requests go first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/engine/queue_pair.h"
#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {
namespace {

namespace opcode = wire::opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kPatience = microseconds(4);

class Patience : public ::testing::Test {
 protected:
  Patience() {
    hosts.connect([](ConnectParameters& p) { p.mtu = PathMtu::b256; });
  }
  static EndpointOptions options() {
    EndpointOptions out;
    out.acknowledgement_patience = kPatience;
    return out;
  }
  static void post_write(Host& from, const Host& to, std::uint32_t length) {
    ASSERT_TRUE(from.endpoint.post_send(from.qpn, {.kind = SendKind::write,
                                                   .local = from.buffer(0, length),
                                                   .remote_address = Host::kBase + 4096,
                                                   .remote_key = to.key}));
  }
  // Frames of a WRITE of a.
  std::vector<Frame> write(std::uint32_t length = 8) {
    post_write(a, b, length);
    return a.take(hosts.now);
  }
  // What b sends when it gets these frames and has a WRITE of its own to send.
  std::vector<Frame> reply(const std::vector<Frame>& frames) {
    b.give(hosts.now, frames);
    post_write(b, a, 8);
    return b.take(hosts.now);
  }
  std::vector<Frame> later(Duration span) {
    hosts.now = hosts.now + span;
    b.endpoint.on_timeout(hosts.now);
    return b.take(hosts.now);
  }
  static std::vector<int> opcodes(const std::vector<Frame>& frames) {
    std::vector<int> out;
    for (const Frame& frame : frames) out.push_back(packet_of(frame).bth.opcode);
    return out;
  }

  TwoHosts hosts{options()};
  Host& a = hosts.a;
  Host& b = hosts.b;
};

TEST_F(Patience, TheRequestGoesFirstAndTheAcknowledgementInTime) {
  const auto frames = write();
  const wire::Psn asked = packet_of(frames[0]).bth.psn;
  EXPECT_THAT(opcodes(reply(frames)), ElementsAre(opcode::kRcWriteOnly));
  EXPECT_FALSE(b.endpoint.has_frames());
  EXPECT_LE(b.endpoint.next_timeout(), hosts.now + kPatience);
  EXPECT_THAT(later(kPatience - nanoseconds(1)), IsEmpty());
  const auto acks = later(nanoseconds(1));
  ASSERT_THAT(opcodes(acks), ElementsAre(opcode::kRcAcknowledge));
  EXPECT_EQ(packet_of(acks[0]).bth.psn, asked);
  EXPECT_EQ(b.endpoint.statistics().acks_sent, 1);
}

TEST_F(Patience, NoWaitWithoutARequest) {
  b.give(hosts.now, write());
  EXPECT_THAT(opcodes(b.take(hosts.now)), ElementsAre(opcode::kRcAcknowledge));
}

TEST_F(Patience, SeveralMessagesShareOneAcknowledgement) {
  for (int i = 0; i < kMostWaits; ++i) {
    EXPECT_THAT(opcodes(reply(write())), ElementsAre(opcode::kRcWriteOnly)) << i;
  }
  const auto frames = write();
  const auto replies = reply(frames);
  ASSERT_THAT(opcodes(replies), ElementsAre(opcode::kRcAcknowledge, opcode::kRcWriteOnly));
  EXPECT_EQ(packet_of(replies[0]).bth.psn, packet_of(frames[0]).bth.psn);
  a.give(hosts.now, replies);
  EXPECT_EQ(a.completions().size(), kMostWaits + 1);
}

TEST_F(Patience, ItEndsThoughRequestsNeverDo) {
  reply(write());
  hosts.now = hosts.now + kPatience;
  b.endpoint.on_timeout(hosts.now);
  EXPECT_THAT(opcodes(reply({})), ElementsAre(opcode::kRcAcknowledge, opcode::kRcWriteOnly));
}

TEST_F(Patience, ANakDoesNotWait) {
  const auto frames = write(3 * 256);
  EXPECT_THAT(opcodes(reply({frames[0], frames[2]})),
              ElementsAre(opcode::kRcAcknowledge, opcode::kRcWriteOnly));
  EXPECT_EQ(b.endpoint.statistics().sequence_naks_sent, 1);
}

}  // namespace
}  // namespace rocetune::engine
