#include "congestion/dcqcn/notification_point.h"

#include <gtest/gtest.h>

#include "congestion/dcqcn/congestion_point.h"
#include "tests/instants.h"

namespace rocetune::dcqcn {
namespace {

const NotificationPointParameters kEvent = Parameters::paper().np;
NotificationPointParameters fixed_window() {
  NotificationPointParameters p = kEvent;
  p.mode = NotificationPointParameters::Mode::fixed_window;
  return p;
}

TEST(NotificationPoint, AnswersTheFirstMarkAtOnceThenStaysQuiet) {
  NotificationPoint np(kEvent);
  EXPECT_FALSE(np.on_packet(at(1), false));
  EXPECT_TRUE(np.on_packet(at(2), true));
  EXPECT_FALSE(np.on_packet(at(3), true));
  EXPECT_FALSE(np.on_packet(at(51), true));
  EXPECT_TRUE(np.on_packet(at(52), true));
  EXPECT_EQ(np.marked_packets(), 4);
  EXPECT_EQ(np.cnps(), 2);
  EXPECT_EQ(np.next_timer(), Instant::never());
}

TEST(NotificationPoint, ZeroTimeAnswersEveryMark) {
  NotificationPointParameters p = kEvent;
  p.minimum_time_between_cnps = Duration(0);
  NotificationPoint np(p);
  EXPECT_TRUE(np.on_packet(at(1), true));
  EXPECT_TRUE(np.on_packet(at(1), true));
}

TEST(NotificationPoint, FixedWindowAnswersAtTheWindowsEnd) {
  const NotificationPointParameters p = fixed_window();
  NotificationPoint np(p);
  EXPECT_FALSE(np.on_packet(at(120), true));
  EXPECT_EQ(np.next_timer(), at(150));
  EXPECT_FALSE(np.on_packet(at(130), true));
  EXPECT_FALSE(np.on_timer(at(149)));
  EXPECT_TRUE(np.on_timer(at(150)));
  EXPECT_FALSE(np.on_timer(at(200)));
  EXPECT_EQ(np.cnps(), 1);
}

TEST(NotificationPoint, FixedWindowGivesALateCnpWithTheNextPacket) {
  const NotificationPointParameters p = fixed_window();
  NotificationPoint np(p);
  (void)np.on_packet(at(10), true);
  EXPECT_TRUE(np.on_packet(at(170), true));
  EXPECT_EQ(np.next_timer(), at(200));
}

TEST(CongestionPoint, MarksOnlyAtItsMoment) {
  CongestionPoint cp(Parameters::paper().cp);
  EXPECT_FALSE(cp.on_enqueue(Bytes(500'000), Ecn::ect0, 0));
  EXPECT_TRUE(cp.on_dequeue(Bytes(500'000), Ecn::ect0, UINT64_MAX));
  EXPECT_FALSE(cp.on_dequeue(Bytes(4'000), Ecn::ect0, 0));
  EXPECT_FALSE(cp.on_dequeue(Bytes(500'000), Ecn::not_ect, 0));
  EXPECT_EQ(cp.marked(), 1);
}

}  // namespace
}  // namespace rocetune::dcqcn
