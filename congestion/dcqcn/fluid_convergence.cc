#include "congestion/dcqcn/fluid_convergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace rocetune::dcqcn {
namespace {

constexpr double kLongestStep = 1e-6;  // s
constexpr double kLongest = 1;         // s
constexpr double kAlike = 0.01;        // of a fair share
constexpr double kOver = 0.001;        // from here on they stay alike

using Halves = std::array<FluidState, 2>;

double difference(const Halves& halves) { return std::abs(halves[0].rate - halves[1].rate); }

}  // namespace

std::optional<Duration> convergence_time(const FluidModel& model) {
  const auto rest = model.equilibrium();
  if (!rest) return std::nullopt;
  const double fair = rest->rate;
  Halves halves{*rest, *rest};
  for (const auto& [half, share] : {std::pair(0U, 1.5), std::pair(1U, 0.5)}) {
    halves[half].rate *= share;
    halves[half].target *= share;
    halves[half] = model.bounded(halves[half]);
  }
  const auto signal_of = [&](const FluidState& state) {
    return FluidSignal{state.rate, model.marking_at(state.queue)};
  };
  const auto delay = static_cast<std::size_t>(std::ceil(model.loop_delay_seconds() / kLongestStep - 1e-9));
  const double step = delay > 0 ? model.loop_delay_seconds() / static_cast<double>(delay) : kLongestStep;
  std::array<std::vector<FluidSignal>, 2> past;
  for (std::size_t i = 0; i < past.size(); ++i) past[i].assign(delay, signal_of(halves[i]));
  double last_apart = 0;
  double now = 0;
  for (std::size_t n = 0; now < kLongest && difference(halves) > kOver * fair; ++n, now += step) {
    double queue = 0;  // its change: half of the flows each
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const FluidSignal here = signal_of(halves[i]);
      FluidSignal seen = here;
      if (delay > 0) seen = std::exchange(past[i][n % delay], here);
      const FluidState slopes = model.slopes(halves[i], seen);
      queue += slopes.queue * step / 2;
      halves[i].rate += slopes.rate * step;
      halves[i].target += slopes.target * step;
      halves[i].alpha += slopes.alpha * step;
    }
    for (FluidState& half : halves) {
      half.queue += queue;
      half = model.bounded(half);
    }
    if (difference(halves) >= kAlike * fair) last_apart = now + step;
  }
  if (difference(halves) > kOver * fair) return std::nullopt;
  return Duration(std::llround(last_apart * 1e12));
}

}  // namespace rocetune::dcqcn
