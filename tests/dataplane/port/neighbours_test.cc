#include "dataplane/port/neighbours.h"

#include <gtest/gtest.h>

#include "dataplane/wire/neighbour_discovery.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::port {
namespace {

using wire::IpAddress;
using wire::MacAddress;

constexpr MacAddress kOur{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kTheir{{2, 0, 0, 0, 0, 2}};
const IpAddress kOurV4 = IpAddress::v4(0x0A000001);
const IpAddress kTheirV4 = IpAddress::v4(0x0A000002);

class Pair : public ::testing::Test {
 protected:
  using Frame = std::array<std::byte, Neighbours::kLargestFrame>;
  // Asks, hands the frame over, hands the answer back; whether there was one.
  bool resolve(const IpAddress& address) {
    Frame question, answer;
    const std::size_t asked = ours_.ask(address, question);
    EXPECT_TRUE(Neighbours::concerns(std::span(question).first(asked)));
    const std::size_t answered = theirs_.on_frame(std::span(question).first(asked), answer);
    if (answered == 0) return false;
    Frame nothing;
    EXPECT_EQ(ours_.on_frame(std::span(answer).first(answered), nothing), 0U);
    return true;
  }
  Neighbours ours_{kOur, {kOurV4, wire::link_local_address(kOur)}};
  Neighbours theirs_{kTheir, {kTheirV4, wire::link_local_address(kTheir)}};
};

TEST_F(Pair, ResolvesByArp) {
  EXPECT_EQ(ours_.find(kTheirV4), std::nullopt);
  EXPECT_TRUE(resolve(kTheirV4));
  EXPECT_EQ(ours_.find(kTheirV4), kTheir);
}

TEST_F(Pair, ResolvesByNeighbourDiscovery) {
  const IpAddress address = wire::link_local_address(kTheir);
  EXPECT_TRUE(resolve(address));
  EXPECT_EQ(ours_.find(address), kTheir);
}

TEST_F(Pair, SaysNothingForAddressesOfOthers) {
  EXPECT_FALSE(resolve(IpAddress::v4(0x0A000003)));
  EXPECT_FALSE(resolve(wire::link_local_address({{2, 0, 0, 0, 0, 3}})));
}

TEST_F(Pair, LearnsOnlyWhatItAskedFor) {
  Frame question, answer;
  const std::size_t asked = theirs_.ask(kOurV4, question);
  EXPECT_GT(ours_.on_frame(std::span(question).first(asked), answer), 0U);
  EXPECT_EQ(ours_.find(kTheirV4), std::nullopt);
}

TEST_F(Pair, ABitWrongInNeighbourDiscoveryIsNoAnswer) {
  Frame question, answer;
  const std::size_t asked = ours_.ask(wire::link_local_address(kTheir), question);
  question[asked - 1] ^= std::byte{1};
  EXPECT_EQ(theirs_.on_frame(std::span(question).first(asked), answer), 0U);
}

TEST_F(Pair, ARoutedSolicitationIsNotBelieved) {
  Frame question, answer;
  const std::size_t asked = ours_.ask(wire::link_local_address(kTheir), question);
  question[14 + 7] = std::byte{254};
  EXPECT_EQ(theirs_.on_frame(std::span(question).first(asked), answer), 0U);
}

TEST(Neighbours, ArpRequestIsWhatRfc826Says) {
  Neighbours neighbours(kOur, {kOurV4});
  std::array<std::byte, Neighbours::kLargestFrame> frame;
  const std::size_t size = neighbours.ask(kTheirV4, frame);
  const auto expected = wire::from_hex(
      "ffffffffffff020000000001 0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002");
  EXPECT_EQ(std::vector(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)), expected);
}

TEST(LinkLocalAddress, IsTheModifiedEui64) {
  // RFC 4291, appendix A.
  EXPECT_EQ(to_text(wire::link_local_address({{0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde}})),
            "fe80::3656:78ff:fe9a:bcde");
}

}  // namespace
}  // namespace rocetune::port
