#include "congestion/dcqcn/fluid_convergence.h"

#include <gtest/gtest.h>

#include "tests/congestion/dcqcn/fluid_setup.h"

namespace rocetune::dcqcn {
namespace {

// Zhu et al., CoNEXT 2016: upper bounds of the time for their parameters at 40 Gb/s.
TEST(FluidConvergence, IsWithinThePublishedBounds) {
  for (const auto& [flows, bound_ms] : {std::pair(2, 97), std::pair(4, 64), std::pair(10, 36)}) {
    const auto time = convergence_time(FluidSetup{flows, microseconds(4)}.model());
    ASSERT_TRUE(time) << flows;
    EXPECT_LT(*time, milliseconds(bound_ms)) << flows;
    EXPECT_GT(*time, milliseconds(bound_ms) / 20) << flows;
  }
}

TEST(FluidConvergence, MoreFlowsAreSooner) {
  const auto few = convergence_time(FluidSetup{2, microseconds(4)}.model());
  const auto many = convergence_time(FluidSetup{10, microseconds(4)}.model());
  ASSERT_TRUE(few && many);
  EXPECT_LT(*many, *few);
}

TEST(FluidConvergence, WithoutAFixedPointThereIsNone) {
  EXPECT_FALSE(convergence_time(FluidSetup{16, microseconds(4)}.model()));
}

}  // namespace
}  // namespace rocetune::dcqcn
