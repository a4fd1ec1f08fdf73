// Fluid models of the paper's parameters, as the tests of its parts need them.
#pragma once

#include "congestion/dcqcn/fluid_model.h"

namespace rocetune::dcqcn {

constexpr RedCurve kPaperCurve{Bytes(5'000), Bytes(200'000), Ratio::from_percent(1)};
// The same slope, ten times as long: where p* is above 1 % the linearised model still has a point to stand
// at.
constexpr RedCurve kLongCurve{Bytes(5'000), Bytes(1'955'000), Ratio::from_percent(10)};
// Kmax and Pmax of the paper's own script for 64 flows.
constexpr RedCurve kScriptCurve{Bytes(5'000), Bytes(2'000'000), Ratio::from_percent(10)};

struct FluidSetup {
  int flows = 2;
  Duration loop_delay = microseconds(4);
  RedCurve curve = kPaperCurve;
  BitRate link = gigabits_per_second(40);
  BitRate additive_increase = megabits_per_second(40);

  FluidModel model() const {
    Parameters parameters = Parameters::paper();
    parameters.rp.additive_increase = additive_increase;
    parameters.cp.curve = curve;
    return FluidModel::of(parameters, {link, flows, Bytes(1'000), loop_delay}).value();
  }
};

}  // namespace rocetune::dcqcn
