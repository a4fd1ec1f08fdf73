#include "congestion/dcqcn/fluid_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/congestion/dcqcn/fluid_setup.h"

namespace rocetune::dcqcn {
namespace {

using Reason = NoFixedPoint::Reason;

// The exact fixed points for the parameters of the CoNEXT 2016 paper: p* to 10⁻⁶, alpha* to 10⁻⁴, q* to 100
// B.
TEST(FluidFixedPoint, IsTheReferenceTables) {
  struct Row {
    int flows;
    double marking, alpha, queue_kilobytes;
  };
  for (const Row& row : {Row{2, 0.000777, 0.1014, 20.2}, Row{4, 0.001888, 0.1218, 41.8},
                         Row{8, 0.004552, 0.1452, 93.8}, Row{10, 0.006032, 0.1533, 122.6}}) {
    SCOPED_TRACE(row.flows);
    const auto point = FluidSetup{row.flows}.model().fixed_point();
    ASSERT_TRUE(point);
    EXPECT_NEAR(point->marking.value(), row.marking, 0.6e-6);
    EXPECT_NEAR(point->alpha.value(), row.alpha, 0.6e-4);
    EXPECT_NEAR(static_cast<double>(point->queue.count()), row.queue_kilobytes * 1e3, 60);
    EXPECT_EQ(point->rate, gigabits_per_second(40) / row.flows);
    EXPECT_GT(point->target, point->rate);
  }
}

TEST(FluidFixedPoint, WithoutAByteCounter) {
  struct Row {
    int flows;
    double marking, queue_kilobytes;
  };
  Parameters parameters = Parameters::paper();
  parameters.rp.byte_reset = Bytes(0);
  parameters.rp.hyper_increase = parameters.rp.additive_increase;
  for (const Row& row : {Row{2, 0.000814, 20.9}, Row{4, 0.001978, 43.6}, Row{10, 0.006320, 128}}) {
    SCOPED_TRACE(row.flows);
    const auto model =
        FluidModel::of(parameters, {gigabits_per_second(40), row.flows, Bytes(1'048), microseconds(4)});
    ASSERT_TRUE(model);
    const auto point = model->fixed_point();
    ASSERT_TRUE(point);
    EXPECT_NEAR(point->marking.value(), row.marking, 0.6e-6);
    EXPECT_NEAR(static_cast<double>(point->queue.count()), row.queue_kilobytes * 1e3,
                row.queue_kilobytes * 10);
  }
}

TEST(FluidFixedPoint, ThereIsNoneWherePStarIsAbovePmax) {
  const auto point = FluidSetup{16}.model().fixed_point();
  ASSERT_FALSE(point);
  EXPECT_EQ(point.error().reason, Reason::above_kmax);
  EXPECT_NEAR(point.error().marking.value(), 0.010873, 0.6e-6);
}

TEST(FluidFixedPoint, ThereIsNoneWhereFlowsAreAtTheirMaximumOrMinimum) {
  const auto reason_at = [](int flows, const std::function<void(ReactionPointParameters&)>& change) {
    Parameters parameters = Parameters::paper();
    change(parameters.rp);
    const auto point = FluidModel::of(parameters, {gigabits_per_second(40), flows, Bytes(1'000), Duration(0)})
                           .value()
                           .fixed_point();
    EXPECT_FALSE(point);
    return point.error().reason;
  };
  EXPECT_EQ(reason_at(1, [](auto&) {}), Reason::at_maximum_rate);
  EXPECT_EQ(reason_at(2, [](auto& rp) { rp.maximum_rate = gigabits_per_second(15); }),
            Reason::at_maximum_rate);
  EXPECT_EQ(reason_at(2, [](auto& rp) { rp.maximum_rate = gigabits_per_second(20); }),
            Reason::at_maximum_rate);
  EXPECT_EQ(reason_at(8, [](auto& rp) { rp.minimum_rate = gigabits_per_second(6); }),
            Reason::below_minimum_rate);
}

// rp_gd 10 takes alpha of the rate where 11 takes half of it: flows then rest at fewer marks.
TEST(FluidFixedPoint, DeeperCutsNeedFewerMarks) {
  Parameters deep = Parameters::paper();
  deep.rp.cut_exponent = 10;
  const Bottleneck bottleneck{gigabits_per_second(40), 4, Bytes(1'000), Duration(0)};
  const auto point = FluidModel::of(deep, bottleneck).value().fixed_point();
  ASSERT_TRUE(point);
  // p*³ is inverse to the cut in the cube-root approximation.
  EXPECT_NEAR(point->marking.value(), 0.001888 / std::cbrt(2), 0.001888 * 0.03);
}

TEST(FluidModel, NothingMovesAtTheEquilibrium) {
  const FluidModel model = FluidSetup{10}.model();
  const FluidState rest = model.equilibrium().value();
  const FluidState slopes = model.slopes(rest, {rest.rate, model.marking_at(rest.queue)});
  EXPECT_NEAR(slopes.rate / rest.rate, 0, 1e-6);
  EXPECT_NEAR(slopes.target / rest.target, 0, 1e-6);
  EXPECT_NEAR(slopes.alpha, 0, 1e-6);
  EXPECT_NEAR(slopes.queue / model.capacity(), 0, 1e-12);
}

// At the ends of the marking probability the equations are limits: by hand for 40 Gb/s, two flows.
TEST(FluidModel, SlopesWithoutMarksAndWithNothingButMarks) {
  const FluidModel model = FluidSetup{2}.model();
  const FluidState now{2e6, 3e6, 0.5, 10};
  const FluidState rising = model.slopes(now, {2e6, 0});
  const double stages = 1 / 55e-6 + 2e6 / 10'000;  // of the timer and of the byte counter, per second
  EXPECT_NEAR(rising.rate, 1e6 / 2 * stages, 1);
  EXPECT_NEAR(rising.target, 5'000 * stages, 1);
  EXPECT_NEAR(rising.alpha, -0.5 / 256 / 55e-6, 1e-6);
  EXPECT_NEAR(rising.queue, -1e6, 1e-6);
  const FluidState falling = model.slopes(now, {2e6, 1});
  EXPECT_NEAR(falling.rate, -2e6 * 0.25 / 50e-6, 1);
  EXPECT_NEAR(falling.target, -1e6 / 50e-6, 1);
  EXPECT_NEAR(falling.alpha, 0.5 / 256 / 55e-6, 1e-6);
}

TEST(FluidModel, MarksAsTheCurveDoes) {
  const FluidModel model = FluidSetup{}.model();
  EXPECT_EQ(model.marking_at(5), 0);
  EXPECT_NEAR(model.marking_at(102.5), 0.005, 1e-12);
  EXPECT_NEAR(model.marking_at(200), 0.01, 1e-12);
  EXPECT_EQ(model.marking_at(200.001), 1);
}

TEST(FluidModel, SaysWhatItDoesNotDescribe) {
  const Bottleneck bottleneck{gigabits_per_second(40), 2, Bytes(1'000), microseconds(4)};
  const auto parameter = [&](const std::function<void(Parameters&, Bottleneck&)>& change) {
    Parameters parameters = Parameters::paper();
    Bottleneck where = bottleneck;
    change(parameters, where);
    const auto model = FluidModel::of(parameters, where);
    return model ? "" : model.error().parameter;
  };
  EXPECT_EQ(parameter([](auto&, auto&) {}), "");
  EXPECT_EQ(parameter([](auto&, auto& where) { where.flows = 0; }), "flows");
  EXPECT_EQ(parameter([](auto&, auto& where) { where.link = BitRate(0); }), "link");
  EXPECT_EQ(parameter([](auto&, auto& where) { where.packet = Bytes(0); }), "packet");
  EXPECT_EQ(parameter([](auto&, auto& where) { where.loop_delay = milliseconds(11); }), "loop delay");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.rp.clamp_target_rate = false; }), "rp_clamp_tgt_rate");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.np.minimum_time_between_cnps = Duration(0); }),
            "np_min_time_between_cnps");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.rp.alpha_decay = 1024; }), "rp_dce_tcp_g");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.rp.byte_reset = Bytes(0); }), "rp_hai_rate");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.rp.minimum_rate = gigabits_per_second(50); }), "rp_min_rate");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.cp.curve.maximum = p.cp.curve.minimum; }), "cp_kmin");
  EXPECT_EQ(parameter([](auto& p, auto&) { p.cp.curve.probability = Ratio(0); }), "cp_pmax");

  // What ConnectX ships moves the target only after a timer increase.
  const auto mlx5 = FluidModel::of(Parameters::mlx5(), bottleneck);
  ASSERT_FALSE(mlx5);
  EXPECT_EQ(mlx5.error(),
            (OutsideModel{"rp_clamp_tgt_rate", "false",
                          "true: in the equations every cut sets the target to the current rate"}));
}

}  // namespace
}  // namespace rocetune::dcqcn
