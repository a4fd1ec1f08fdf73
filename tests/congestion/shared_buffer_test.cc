#include "congestion/shared_buffer.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

using Room = SharedBuffer::Room;

// SIGCOMM 2015, section 4: 12 MB, 32 ports of 40 Gb/s, 8 classes, 22.4 KB in flight. The paper prints 24.47
// KB, 0.85 KB (its own formula gives 0.765) and 21.75 KB.
TEST(LosslessThresholds, AreThePapers) {
  const LosslessThresholds trident;
  EXPECT_EQ(trident.static_pfc(), Bytes(24'475));
  EXPECT_EQ(trident.static_ecn(), Bytes(764));
  EXPECT_EQ(trident.dynamic_ecn(8), Bytes(21'755));
  EXPECT_EQ(trident.dynamic_pfc(8, Bytes(0)), Bytes(6'265'600));
  EXPECT_EQ(trident.dynamic_pfc(8, Bytes(1'000'000)), Bytes(5'265'600));
}

// A pool of 64 000 B shared, alpha 1/8, reserve 1 000 and headroom 3 000.
struct Small {
  SharedBuffer buffer{Bytes(72'000)};
  SharedBuffer::Queue a = buffer.add_queue(profile());
  SharedBuffer::Queue b = buffer.add_queue(profile());
  static IngressPoolProfile profile() {
    return {.reserve = Bytes(1'000),
            .headroom = Bytes(3'000),
            .alpha_exponent = -3,
            .resume_offset = Bytes(1'000)};
  }
};

TEST(SharedBuffer, FillsReserveThenSharedThenHeadroomThenDrops) {
  Small s;
  EXPECT_EQ(s.buffer.admit(s.a, Bytes(1'000)), Room::reserve);
  int shared = 0;
  while (!s.buffer.wants_xoff(s.a)) {
    ASSERT_EQ(s.buffer.admit(s.a, Bytes(1'000)), Room::shared);
    ++shared;
  }
  // It stops where u >= (64 − u)/8: at 8 packets, as 7 < 7.125 and 8 >= 7.
  EXPECT_EQ(shared, 8);
  EXPECT_EQ(s.buffer.threshold(s.a), Bytes(7'000));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s.buffer.admit(s.a, Bytes(1'000)), Room::headroom);
  EXPECT_EQ(s.buffer.admit(s.a, Bytes(1'000)), Room::dropped);
  EXPECT_EQ(s.buffer.held(s.a), Bytes(12'000));
}

TEST(SharedBuffer, XonWaitsForTheOffset) {
  Small s;
  for (int i = 0; i < 11; ++i) (void)s.buffer.admit(s.a, Bytes(1'000));  // 1 reserve, 8 shared, 2 headroom
  EXPECT_FALSE(s.buffer.allows_xon(s.a));
  s.buffer.release(s.a, Bytes(2'000));  // headroom empty; shared 8 000, threshold 7 000
  EXPECT_FALSE(s.buffer.allows_xon(s.a));
  s.buffer.release(s.a, Bytes(1'000));  // 7 000 + 1 000 > 7 125
  EXPECT_FALSE(s.buffer.allows_xon(s.a));
  s.buffer.release(s.a, Bytes(1'000));  // 6 000 + 1 000 <= 7 250
  EXPECT_TRUE(s.buffer.allows_xon(s.a));
  EXPECT_FALSE(s.buffer.wants_xoff(s.a));
}

TEST(SharedBuffer, AQueueShrinksTheOthersThreshold) {
  Small s;
  EXPECT_EQ(s.buffer.threshold(s.b), Bytes(8'000));
  for (int i = 0; i < 9; ++i) (void)s.buffer.admit(s.a, Bytes(1'000));
  EXPECT_EQ(s.buffer.threshold(s.b), Bytes(7'000));
}

TEST(SharedBuffer, EverythingComesBack) {
  Small s;
  for (int i = 0; i < 12; ++i) (void)s.buffer.admit(s.a, Bytes(1'000));
  for (int i = 0; i < 12; ++i) s.buffer.release(s.a, Bytes(1'000));
  EXPECT_EQ(s.buffer.held(s.a), Bytes(0));
  EXPECT_EQ(s.buffer.shared_free(), Bytes(64'000));
}

TEST(SharedBuffer, ALossyQueueNeverPauses) {
  SharedBuffer buffer(Bytes(10'000));
  const auto q = buffer.add_queue({.reserve = Bytes(0), .headroom = Bytes(0), .alpha_exponent = 0});
  int dropped = 0;
  for (int i = 0; i < 10; ++i) dropped += buffer.admit(q, Bytes(1'000)) == Room::dropped ? 1 : 0;
  EXPECT_FALSE(buffer.wants_xoff(q));
  EXPECT_EQ(buffer.held(q), Bytes(5'000));  // alpha 1: half of the pool for one queue
  EXPECT_EQ(dropped, 5);
}

}  // namespace
}  // namespace rocetune
