// The few unknowns of a model, from what was observed of the thing that it models: a bounded, deterministic
// search for the least misfit, and how far off each unknown could be while the misfit stays within doubt.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace rocetune::twin {

struct Unknown {
  std::string name;
  std::string unit;
  double start = 0;         // what the model says without a fit
  double min = 0, max = 0;  // min < max; logarithmic: min > 0
  bool is_logarithmic = false;
  double step = 0;  // grid of values, from min; 0: any
  // 0 (min) to 1 (max), and back onto the grid.
  double position(double value) const;
  double at(double position) const;
};

struct Target {
  double observed = 0;
  double doubt = 0.1;  // standard deviation of the logarithm of observed over modelled; > 0
  double least = 0;    // added to both before the logarithm is taken; > 0 where 0 may be
};

// By point, by target; absent: the model does not have it, which is bad.
using Modelled = std::vector<std::vector<std::optional<double>>>;
using Model = std::function<Modelled(const std::vector<std::vector<double>>& points)>;

struct FittedUnknown {
  double value = 0;
  // All points that were looked at and explain the observed as well (95 %, of one unknown) lie in between,
  // half of the distance to the next ones included.
  double low = 0, high = 0;
  // They lie within a factor of 10, on a linear scale within 30 % of the range, and all around it the misfit
  // is worse. Else the value is the nearest to the start among those that explain it.
  bool is_told = false;
};

struct Fit {
  std::vector<FittedUnknown> unknowns;
  std::vector<std::optional<double>> modelled_before, modelled;  // by target: at the start, at the fit
  // Sum over targets of z^2, z = (ln observed - ln modelled) / doubt, large ones counting less.
  double misfit_before = 0, misfit = 0;
  int points = 0;  // that were modelled
};

// The same arguments give the same fit. Without unknowns the start is modelled, and that is all. At most
// about `most_points` are modelled (of two unknowns 100 say enough); none: it was stopped.
std::optional<Fit> fit(const std::vector<Unknown>& unknowns, const std::vector<Target>& targets,
                       const Model& model, int most_points, const std::stop_token& stop);

}  // namespace rocetune::twin
