#include "agent/tune/search/foresight.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "agent/tune/search/interval.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// Sizes are believed while the error in the middle is at most this part of what was measured.
constexpr double kErrorOfGain = 1.0 / 3;

// What chance alone may be off by, on either side of 0.
struct Tolerance {
  double gain;
  double loss;
};

int direction(double score, const Tolerance& tolerance) {
  return score > tolerance.gain ? 1 : score < -tolerance.loss ? -1 : 0;
}

// From 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    out.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return out;
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
  }
  const double count = static_cast<double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = a[i] - sum_a / count, db = b[i] - sum_b / count;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  if (aa <= 0 || bb <= 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

// In whole tolerances: what chance alone tells apart has one rank.
double coarse(double score, const Tolerance& tolerance) {
  const double unit = score < 0 ? tolerance.loss : tolerance.gain;
  return unit > 0 ? std::trunc(score / unit) : score;
}

}  // namespace

Foresight foresight_of(const std::vector<Foretold>& foretold, double least_gain, double loss_weight) {
  const Tolerance tolerance{least_gain, least_gain * loss_weight};
  Foresight out;
  std::vector<double> expected{0}, measured{0}, errors, gains;
  int promised = 0, kept = 0;
  for (const Foretold& one : foretold) {
    const int wanted = direction(one.expected, tolerance);
    const int was = one.measured ? direction(*one.measured, tolerance) : -1;
    ++out.of;
    out.right += wanted == was ? 1 : 0;
    promised += wanted > 0 ? 1 : 0;
    kept += wanted > 0 && was > 0 ? 1 : 0;
    if (!one.measured) continue;
    expected.push_back(coarse(one.expected, tolerance));
    measured.push_back(coarse(*one.measured, tolerance));
    errors.push_back(std::abs(percent_of(one.expected) - percent_of(*one.measured)));
    gains.push_back(std::abs(percent_of(*one.measured)));
  }
  if (out.of == 0) {
    out.says = "Nothing that it foretold was tried: whether it may be believed is not known.";
    return out;
  }
  if (expected.size() >= 3) out.rank_correlation = correlation(ranks_of(expected), ranks_of(measured));
  if (!errors.empty()) out.median_error_percent = median(errors);

  const bool is_against = out.rank_correlation && *out.rank_correlation < 0;
  const bool holds = 3 * out.right >= 2 * out.of && !is_against && (promised == 0 || kept > 0);
  const std::string counted = fmt::format("{} of {} candidates went as foretold", out.right, out.of);
  const std::string error = out.median_error_percent ? fmt::format(", off by {:.1f} points in the middle",
                                                                   *out.median_error_percent)
                                                     : std::string();
  if (!holds) {
    out.belief = Belief::not_believed;
    out.says = fmt::format("It may not be believed: {}{}.", counted, error);
    return out;
  }
  const double allowed = std::max(percent_of(least_gain), gains.empty() ? 0 : kErrorOfGain * median(gains));
  if (out.median_error_percent && *out.median_error_percent <= allowed) {
    out.belief = Belief::believed;
    out.says = fmt::format("It may be believed: {}{}.", counted, error);
  } else {
    out.belief = Belief::directions;
    out.says = fmt::format("It may be believed in what helps, not in how much: {}{}.", counted, error);
  }
  return out;
}

Foresight foresight_of(const Guidance& guidance) {
  return foresight_of(guidance.foretold, guidance.tolerance, guidance.loss_weight);
}

}  // namespace rocetune::search
