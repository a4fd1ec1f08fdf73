#include "congestion/dcqcn/fluid_stability.h"

#include <cmath>
#include <numbers>

namespace rocetune::dcqcn {
namespace {

using Complex = std::complex<double>;

// How the slopes of rate, target and alpha answer to one variable, per unit of it.
struct Sensitivity {
  double rate;
  double target;
  double alpha;
};
// The equations near the fixed point: slopes are sums of these times the variables' distances from it.
struct Linearisation {
  Sensitivity to_rate;
  Sensitivity to_target;
  Sensitivity to_alpha;
  Sensitivity to_past_rate;
  Sensitivity to_past_marking;
};

struct Point {
  FluidState now;
  FluidSignal past;
};

// Central difference of the slopes over `variable`, which picks a member of a Point. Steps of a millionth of
// the value: curvature and rounding then each cost less than 1e-9 of the result.
template <class Variable>
Sensitivity sensitivity(const FluidModel& model, const Point& rest, Variable variable) {
  constexpr double kStep = 1e-6;
  Point above = rest;
  Point below = rest;
  variable(above) *= 1 + kStep;
  variable(below) *= 1 - kStep;
  const double width = variable(above) - variable(below);
  const FluidState high = model.slopes(above.now, above.past);
  const FluidState low = model.slopes(below.now, below.past);
  return {(high.rate - low.rate) / width, (high.target - low.target) / width,
          (high.alpha - low.alpha) / width};
}

Linearisation linearised(const FluidModel& model, const FluidState& state) {
  const Point rest{state, {state.rate, model.marking_at(state.queue)}};
  const auto over = [&](auto variable) { return sensitivity(model, rest, variable); };
  return {over([](Point& at) -> double& { return at.now.rate; }),
          over([](Point& at) -> double& { return at.now.target; }),
          over([](Point& at) -> double& { return at.now.alpha; }),
          over([](Point& at) -> double& { return at.past.rate; }),
          over([](Point& at) -> double& { return at.past.marking; })};
}

// The answer of one flow's rate to the marking probability it sees, at s = j·omega. Target and alpha follow
// the rate and the marking through first-order lags, neither acting on the other; put into the rate's
// equation they leave only the two.
Complex rate_per_marking(const Linearisation& at, Complex s, Complex delay) {
  const Complex target_lag = at.to_target.rate / (s - at.to_target.target);
  const Complex alpha_lag = at.to_alpha.rate / (s - at.to_alpha.alpha);
  const auto whole = [&](const Sensitivity& to) {
    return to.rate + to.target * target_lag + to.alpha * alpha_lag;
  };
  return whole(at.to_past_marking) / (s - whole(at.to_rate) - whole(at.to_past_rate) * delay);
}

// The gain crossover between two frequencies of which one is on either side of it.
double crossover_between(const OpenLoop& loop, double low, double high) {
  const bool falling = std::abs(loop(low)) > 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = std::sqrt(low * high);
    ((std::abs(loop(middle)) > 1) == falling ? low : high) = middle;
  }
  return low;
}

}  // namespace

tl::expected<OpenLoop, NoFixedPoint> open_loop(const FluidModel& model) {
  const auto rest = model.equilibrium();
  if (!rest) return tl::unexpected(rest.error());
  // Queue: N rates, integrated. Marking: its slope times the queue, seen a loop delay later.
  return [at = linearised(model, *rest), gain = model.flows() * model.marking_slope(),
          seconds = model.loop_delay_seconds()](double omega) {
    const Complex s(0, omega);
    const Complex delay = std::exp(-s * seconds);
    return -gain / s * delay * rate_per_marking(at, s, delay);
  };
}

std::optional<PhaseMargin> phase_margin(const OpenLoop& loop) {
  constexpr double kLowest = 1;
  constexpr double kHighest = 1e7;
  constexpr double kGrid =
      1.002;  // at the longest loop delay, 10 ms, less than half a turn apart below 10⁵ rad/s
  std::optional<PhaseMargin> worst;
  double omega = kLowest;
  Complex here = loop(omega);
  double phase = std::arg(here);
  while (omega < kHighest) {
    const Complex next = loop(omega * kGrid);
    if ((std::abs(here) > 1) != (std::abs(next) > 1)) {
      const double crossover = crossover_between(loop, omega, omega * kGrid);
      const double there = phase + std::arg(loop(crossover) / here);
      const double degrees = 180 + there * 180 / std::numbers::pi;
      if (!worst || degrees < worst->degrees) {
        worst = PhaseMargin{degrees, Duration(std::llround(2e12 * std::numbers::pi / crossover))};
      }
    }
    phase += std::arg(next / here);
    here = next;
    omega *= kGrid;
  }
  return worst;
}

}  // namespace rocetune::dcqcn
