#include "congestion/headroom.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

struct Row {
  std::int64_t gbps;
  std::int64_t metres;
  std::int64_t minimum_bytes;
};

// Computed by hand from the driver's formula: MTU 9000, cell 128 B, maximum MTU 9216.
class Mlx5Table : public testing::TestWithParam<Row> {};

TEST_P(Mlx5Table, MinimumLosslessBufferIsEqualToTheByte) {
  const Mlx5Headroom headroom{.speed = gigabits_per_second(GetParam().gbps),
                              .cable = Metres(GetParam().metres)};
  EXPECT_EQ(headroom.minimum_lossless_buffer(), Bytes(GetParam().minimum_bytes));
}

INSTANTIATE_TEST_SUITE_P(SpeedAndCable, Mlx5Table,
                         testing::Values(Row{100, 7, 65'424}, Row{100, 30, 70'324}, Row{100, 100, 85'524},
                                         Row{100, 300, 128'724}, Row{200, 7, 97'024}, Row{200, 30, 106'824},
                                         Row{200, 100, 137'224}, Row{200, 300, 223'624}, Row{400, 7, 160'224},
                                         Row{400, 30, 179'824}, Row{400, 100, 240'624},
                                         Row{400, 300, 413'424}, Row{800, 7, 286'624}, Row{800, 30, 325'824},
                                         Row{800, 100, 447'424}, Row{800, 300, 793'024}));

TEST(Mlx5Headroom, UsesTheLargerRealMaximumMtu) {
  EXPECT_EQ(
      (Mlx5Headroom{.speed = gigabits_per_second(100), .max_mtu = Bytes(9978)}).minimum_lossless_buffer(),
      Bytes(66'186));
}

TEST(Mlx5Headroom, ComputesBelowFortyGigabitsAsForty) {
  const Mlx5Headroom slow{.speed = gigabits_per_second(25)};
  const Mlx5Headroom forty{.speed = gigabits_per_second(40)};
  EXPECT_EQ(slow.xoff_delay(), forty.xoff_delay());
}

TEST(Mlx5Headroom, ThresholdsStackUpInsideTheBuffer) {
  const Mlx5Headroom headroom{.speed = gigabits_per_second(100)};
  const Bytes size(131'072);
  EXPECT_EQ(headroom.xoff_threshold(size), size - Bytes(56'080));
  EXPECT_EQ(headroom.xon_threshold(size), size - Bytes(56'080 + 9216));
}

// Evaluated with a Lua interpreter's arithmetic by hand for the Mellanox script: cell 144 > 128, so factor
// 144/64.
TEST(SonicHeadroom, FollowsTheMellanoxScript) {
  const SonicHeadroom headroom{.speed = gigabits_per_second(100), .cable = Metres(40)};
  EXPECT_EQ(headroom.peer_response().value(), Bytes(394 * 64));
  EXPECT_EQ(headroom.on_cable(), Bytes(4932));  // 2·40·100000·1e9 / 198e6 / 8192 = 4932.1
  // (9100 + 4932.1 + 25216) · 2.25 + 1024 = 89332.3 -> 88 KiB
  EXPECT_EQ(headroom.xoff().value(), Bytes(88 * 1024));
}

TEST(SonicHeadroom, SmallCellsUseTheOtherFactor) {
  const SonicHeadroom headroom{.speed = gigabits_per_second(25), .cable = Metres(5), .cell = Bytes(96)};
  // (9100 + 154.1 + 80·64) · (192/97) + 1024 = 29475.6 -> 29 KiB
  EXPECT_EQ(headroom.xoff().value(), Bytes(29 * 1024));
}

TEST(SonicHeadroom, RefusesASpeedThatTheAnnexDoesNotList) {
  const SonicHeadroom headroom{.speed = gigabits_per_second(56)};
  ASSERT_FALSE(headroom.xoff());
  EXPECT_EQ(headroom.xoff().error().found, "56Gbps");
}

}  // namespace
}  // namespace rocetune
