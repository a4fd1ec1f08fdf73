#include "congestion/pfc.h"

#include <gtest/gtest.h>

#include "tests/instants.h"

namespace rocetune {
namespace {

constexpr BitRate kLink = gigabits_per_second(100);
PfcMessage message(Priority p, std::uint16_t quanta) {
  PfcMessage m{.enabled = PrioritySet::of(p)};
  m.quanta[static_cast<std::size_t>(p.value())] = PauseQuanta(quanta);
  return m;
}

TEST(PauseState, LastsItsQuanta) {
  PauseState state(kLink);
  state.on_pfc(at(1), message(Priority(3), 0xFFFF));
  EXPECT_FALSE(state.may_send(at(2), Priority(3)));
  EXPECT_TRUE(state.may_send(at(2), Priority(4)));
  // 65535 quanta of 5.12 ns: 335.5392 us.
  EXPECT_EQ(state.paused_until(Priority(3)), at(1) + nanoseconds(335'539) + picoseconds(200));
  EXPECT_TRUE(state.may_send(state.paused_until(Priority(3)), Priority(3)));
}

TEST(PauseState, XonEndsItAndTimeAddsUp) {
  PauseState state(kLink);
  for (const std::int64_t start : {0, 100, 200}) {
    state.on_pfc(at(start), message(Priority(3), 0xFFFF));
    state.on_pfc(at(start + 40), message(Priority(3), 0));
  }
  EXPECT_EQ(state.paused_time(at(1'000), Priority(3)), microseconds(120));
  EXPECT_EQ(state.transitions(Priority(3)), 3);
  EXPECT_EQ(state.paused_time(at(1'000), Priority(0)), Duration(0));
}

TEST(PauseState, ARefreshReplacesWhatIsLeft) {
  PauseState state(kLink);
  state.on_pfc(at(0), message(Priority(3), 0xFFFF));
  state.on_pfc(at(100), message(Priority(3), 0xFFFF));
  EXPECT_EQ(state.paused_until(Priority(3)), at(100) + PauseQuanta(0xFFFF).at(kLink));
  EXPECT_EQ(state.transitions(Priority(3)), 1);
  EXPECT_EQ(state.paused_time(at(50), Priority(3)), microseconds(50));
  state.on_pfc(at(110), message(Priority(3), 1));
  EXPECT_EQ(state.paused_until(Priority(3)), at(110) + picoseconds(5'120));
}

TEST(PauseState, GlobalPauseStopsAllPriorities) {
  PauseState state(kLink);
  state.on_global_pause(at(0), PauseQuanta(100));
  for (int p = 0; p < 8; ++p) EXPECT_FALSE(state.may_send(at(0), Priority(p)));
  state.on_global_pause(at(0), PauseQuanta(0));
  for (int p = 0; p < 8; ++p) EXPECT_TRUE(state.may_send(at(0), Priority(p)));
}

TEST(PauseState, AnXonNobodyWaitsForChangesNothing) {
  PauseState state(kLink);
  state.on_pfc(at(5), message(Priority(3), 0));
  EXPECT_EQ(state.transitions(Priority(3)), 0);
  EXPECT_EQ(state.paused_time(at(9), Priority(3)), Duration(0));
}

TEST(Pauser, SaysXoffOnceAndXonOnce) {
  Pauser pauser(kLink, {});
  const auto xoff = pauser.on_buffer(at(0), Priority(3), true);
  ASSERT_TRUE(xoff);
  EXPECT_EQ(*xoff, message(Priority(3), 0xFFFF));
  EXPECT_FALSE(pauser.on_buffer(at(1), Priority(3), true));
  EXPECT_EQ(*pauser.on_buffer(at(2), Priority(3), false), message(Priority(3), 0));
  EXPECT_FALSE(pauser.on_buffer(at(3), Priority(3), false));
  EXPECT_EQ(pauser.next_timer(), Instant::never());
}

TEST(Pauser, RefreshesBeforeThePauseEnds) {
  Pauser pauser(kLink, {});
  PauseState peer(kLink);
  peer.on_pfc(at(0), *pauser.on_buffer(at(0), Priority(3), true));
  Instant now;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(pauser.on_timer(now));
    now = pauser.next_timer();
    EXPECT_FALSE(peer.may_send(now, Priority(3)));
    peer.on_pfc(now, *pauser.on_timer(now));
  }
  EXPECT_EQ(peer.transitions(Priority(3)), 1);
}

TEST(Pauser, RefreshesTwoPrioritiesInOneFrame) {
  Pauser pauser(kLink, {});
  (void)pauser.on_buffer(at(0), Priority(3), true);
  (void)pauser.on_buffer(at(0), Priority(4), true);
  EXPECT_EQ(pauser.on_timer(at(200))->enabled.mask(), 0x18);
}

}  // namespace
}  // namespace rocetune
