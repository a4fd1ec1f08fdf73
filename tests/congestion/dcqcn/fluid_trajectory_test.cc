#include "congestion/dcqcn/fluid_trajectory.h"

#include <gtest/gtest.h>

#include "tests/congestion/dcqcn/fluid_setup.h"

namespace rocetune::dcqcn {
namespace {

double kilobytes(Bytes size) { return static_cast<double>(size.count()) / 1e3; }

// From a start at line rate, a stretch long after it.
FluidStretch steady_part(const FluidModel& model) {
  FluidTrajectory trajectory(model, model.line_rate_start());
  (void)trajectory.measure(milliseconds(400));
  return trajectory.measure(milliseconds(200));
}

// The reference's figures are of an integrator of their own, over half a second.
struct Settled {
  FluidSetup setup;
  double queue_mean;  // kB
};
class SettledRow : public ::testing::TestWithParam<Settled> {};

TEST_P(SettledRow, RestsAtTheFixedPoint) {
  const FluidModel model = GetParam().setup.model();
  const FluidStretch steady = steady_part(model);
  const double fixed_point = kilobytes(model.fixed_point().value().queue);
  EXPECT_NEAR(kilobytes(steady.queue_mean), GetParam().queue_mean, GetParam().queue_mean * 0.01);
  EXPECT_NEAR(kilobytes(steady.queue_mean), fixed_point, fixed_point * 0.001);
  EXPECT_LT(kilobytes(steady.queue_deviation), 0.1);
  EXPECT_GT(steady.utilisation.value(), 0.9999);
}

constexpr BitRate kLink40G = gigabits_per_second(40);
constexpr BitRate kLink100G = gigabits_per_second(100);
constexpr RedCurve k1000KB{Bytes(5'000), Bytes(1'000'000), Ratio::from_percent(1)};
constexpr RedCurve kHpccCurve{Bytes(400'000), Bytes(1'600'000), Ratio::from_percent(20)};
INSTANTIATE_TEST_SUITE_P(
    Reference, SettledRow,
    ::testing::Values(Settled{{2, microseconds(4)}, 20.2}, Settled{{4, microseconds(4)}, 41.8},
                      Settled{{10, microseconds(4)}, 122.6}, Settled{{2, microseconds(85)}, 20.1},
                      Settled{{10, microseconds(85), k1000KB, kLink40G, megabits_per_second(10)}, 415.8},
                      Settled{{2, microseconds(85), k1000KB, kLink40G, megabits_per_second(10)}, 56.5},
                      Settled{{10, microseconds(4), kScriptCurve}, 125.3},
                      Settled{{64, microseconds(4), kScriptCurve}, 1183},
                      Settled{{2, microseconds(85), kScriptCurve}, 20.5},
                      Settled{{64, microseconds(85), kScriptCurve}, 1183},
                      Settled{{8, microseconds(4), kHpccCurve, kLink100G}, 408.5},
                      Settled{{16, microseconds(4), kHpccCurve, kLink100G}, 420.6}));

struct Swinging {
  FluidSetup setup;
  double mean, deviation, maximum;  // kB
  double utilisation;
};
class SwingingRow : public ::testing::TestWithParam<Swinging> {};

TEST_P(SwingingRow, EmptiesAndOverfillsTheQueue) {
  const Swinging& row = GetParam();
  const FluidStretch steady = steady_part(row.setup.model());
  EXPECT_NEAR(kilobytes(steady.queue_mean), row.mean, row.mean * 0.02);
  EXPECT_NEAR(kilobytes(steady.queue_deviation), row.deviation, row.deviation * 0.02);
  EXPECT_NEAR(kilobytes(steady.queue_maximum), row.maximum, row.maximum * 0.01);
  EXPECT_EQ(steady.queue_minimum, Bytes(0));
  EXPECT_NEAR(steady.utilisation.value(), row.utilisation, 0.003);
}

INSTANTIATE_TEST_SUITE_P(Reference, SwingingRow,
                         ::testing::Values(Swinging{{10, microseconds(85)}, 56.0, 78.8, 234, 0.949},
                                           Swinging{{20, microseconds(85)}, 69.4, 99.9, 294, 0.916},
                                           Swinging{
                                               {10, microseconds(85), kScriptCurve}, 133, 101, 276, 0.998}));

// Without a fixed point below Kmax the queue hangs at the jump, even with a short loop.
TEST(FluidTrajectory, SixteenFlowsRunAgainstKmax) {
  const FluidStretch steady = steady_part(FluidSetup{16}.model());
  EXPECT_NEAR(kilobytes(steady.queue_maximum), 200, 1);
  EXPECT_GT(kilobytes(steady.queue_deviation), 1);
}

TEST(FluidTrajectory, TheAnswerDoesNotDependOnTheStep) {
  const FluidModel model = FluidSetup{10, microseconds(85)}.model();
  const auto mean_with = [&](Duration step) {
    FluidTrajectory trajectory(model, model.line_rate_start(), step);
    (void)trajectory.measure(milliseconds(200));
    return kilobytes(trajectory.measure(milliseconds(200)).queue_mean);
  };
  EXPECT_NEAR(mean_with(microseconds(2)), mean_with(nanoseconds(500)), 0.6);
}

TEST(FluidTrajectory, TheStepDividesTheLoopDelay) {
  const auto step_at = [](Duration delay) {
    const FluidModel model = FluidSetup{2, delay}.model();
    return FluidTrajectory(model, model.line_rate_start(), microseconds(1)).step_seconds();
  };
  EXPECT_DOUBLE_EQ(step_at(Duration(0)), 1e-6);
  EXPECT_DOUBLE_EQ(step_at(microseconds(4)), 1e-6);
  EXPECT_DOUBLE_EQ(step_at(nanoseconds(1'500)), 0.75e-6);
  EXPECT_DOUBLE_EQ(step_at(nanoseconds(10)), 10e-9);
}

// For one loop delay the senders know nothing of the queue: by hand, 2·40 − 40 Gb/s for 85 us.
TEST(FluidTrajectory, TheFirstLoopDelayIsBlind) {
  const FluidModel model = FluidSetup{2, microseconds(85)}.model();
  FluidTrajectory trajectory(model, model.line_rate_start());
  const FluidStretch blind = trajectory.measure(microseconds(85));
  EXPECT_NEAR(kilobytes(blind.queue_maximum), 425, 1);
  EXPECT_EQ(model.bit_rate(trajectory.state().rate), kLink40G);
  (void)trajectory.measure(microseconds(10));
  EXPECT_LT(model.bit_rate(trajectory.state().rate), kLink40G);
}

// One flow has no bottleneck, and too many for their minimum rate fill the queue for ever.
TEST(FluidTrajectory, RatesKeepTheirBounds) {
  const FluidModel one = FluidSetup{1}.model();
  FluidTrajectory alone(one, one.line_rate_start());
  EXPECT_EQ(alone.measure(milliseconds(5)).queue_maximum, Bytes(0));
  EXPECT_EQ(one.bit_rate(alone.state().rate), kLink40G);

  Parameters parameters = Parameters::paper();
  parameters.rp.minimum_rate = gigabits_per_second(6);
  const FluidModel eight = FluidModel::of(parameters, {kLink40G, 8, Bytes(1'000), microseconds(4)}).value();
  FluidTrajectory crowded(eight, eight.line_rate_start());
  (void)crowded.measure(milliseconds(10));
  const Bytes before = eight.bytes(crowded.state().queue);
  (void)crowded.measure(milliseconds(10));
  EXPECT_EQ(eight.bit_rate(crowded.state().rate), gigabits_per_second(6));
  EXPECT_NEAR(kilobytes(eight.bytes(crowded.state().queue) - before), 10'000, 10);  // 8 Gb/s for 10 ms
}

}  // namespace
}  // namespace rocetune::dcqcn
