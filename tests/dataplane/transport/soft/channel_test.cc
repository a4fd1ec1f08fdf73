#include "dataplane/transport/soft/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "dataplane/base/clock.h"

namespace rocetune::soft {
namespace {

// A port of this process' own, so that tests beside each other do not meet.
std::string place() { return "127.0.0.1:" + std::to_string(20000 + ::getpid() % 20000); }

template <class Poll>
auto until(Poll&& poll) {
  SystemClock clock;
  const Instant end = clock.now() + seconds(10);
  for (;;) {
    auto found = poll();
    EXPECT_TRUE(found) << found.error().text();
    if (!found || *found || clock.now() > end) return found;
  }
}

struct Pair {
  Channel client;
  Channel server;
};
Pair connected() {
  auto listener = Listener::open(place());
  EXPECT_TRUE(listener) << listener.error().text();
  auto client = Channel::connect(place(), seconds(5));
  EXPECT_TRUE(client) << client.error().text();
  auto server = until([&] { return listener->poll(); });
  return {std::move(*client), std::move(**server)};
}

TEST(Channel, LinesArriveWholeAndInOrder) {
  Pair pair = connected();
  ASSERT_TRUE(pair.client.send("one"));
  ASSERT_TRUE(pair.client.send(std::string(10'000, 'x')));
  EXPECT_EQ(until([&] { return pair.server.poll(); })->value(), "one");
  EXPECT_EQ(until([&] { return pair.server.poll(); })->value(), std::string(10'000, 'x'));
}

TEST(Channel, PiecesArriveWholeWhateverIsInThem) {
  using namespace std::string_literals;
  Pair pair = connected();
  ASSERT_TRUE(pair.client.send_bytes("6.06\0\n"s));
  EXPECT_EQ(until([&] { return pair.server.poll_bytes(5); })->value(), "6.06\0"s);
  const auto too_few = pair.server.poll_bytes(2);
  ASSERT_TRUE(too_few);
  EXPECT_EQ(*too_few, std::nullopt);
  ASSERT_TRUE(pair.client.send_bytes("x"));
  EXPECT_EQ(until([&] { return pair.server.poll_bytes(2); })->value(), "\nx");
}

TEST(Channel, BothWays) {
  Pair pair = connected();
  ASSERT_TRUE(pair.server.send("welcome"));
  EXPECT_EQ(until([&] { return pair.client.poll(); })->value(), "welcome");
}

TEST(Channel, PollDoesNotWait) {
  Pair pair = connected();
  const auto nothing = pair.server.poll();
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, std::nullopt);
}

TEST(Channel, AGoneCallerIsAnErrorAfterItsLastLine) {
  Pair pair = connected();
  ASSERT_TRUE(pair.client.send("last"));
  { const Channel gone = std::move(pair.client); }
  EXPECT_EQ(until([&] { return pair.server.poll(); })->value(), "last");
  SystemClock clock;
  const Instant end = clock.now() + seconds(10);
  while (pair.server.poll() && clock.now() < end) {
  }
  EXPECT_FALSE(pair.server.poll());
}

TEST(Channel, NobodyListens) {
  const auto channel = Channel::connect("127.0.0.1:1", Duration(0));
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().text(), "127.0.0.1:1 (Connection refused)");
}

TEST(Channel, RefusesWhatIsNoPlace) {
  for (const std::string text : {"", "host", "host:", "host:port", "host:70000", "::1:80"}) {
    const auto channel = Channel::connect(text, Duration(0));
    ASSERT_FALSE(channel) << text;
    EXPECT_EQ(channel.error().text(), "found " + text + ", allowed: HOST:PORT, [IPV6]:PORT or :PORT");
  }
}

}  // namespace
}  // namespace rocetune::soft
