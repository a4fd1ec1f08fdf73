#include "agent/tune/search/surrogate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// Weights of a relevant number: length scales 2, 1, 1/2, 1/4, 1/8 of its range, to the power -1.5.
constexpr std::array kNumericWeights{0.0, 0.3536, 1.0, 2.8284, 8.0, 22.627};
// Of a relevant choice: correlation 0.82, 0.5, 0.14 between two that differ.
constexpr std::array kChoiceWeights{0.0, 0.2, 0.7, 2.0};
// Variance of the noise over that of the signal.
constexpr std::array kNoiseLevels{1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0};
// Of the correlation: the mean over the relevant knobs, the rest is their product.
constexpr std::array kAdditions{0.0, 0.5, 0.8, 0.95};
constexpr double kExpectedRelevant = 5;  // knobs
constexpr int kFirstSweeps = 6;
constexpr int kSweepsBetween = 1;
constexpr int kDraws = 6;
// Inverse-gamma prior of the signal's variance, in units of the examples' variance: weak.
constexpr double kPriorShape = 1.5;
constexpr double kPriorScale = 0.75;

std::size_t at(std::size_t row, std::size_t column, std::size_t n) { return row * n + column; }

}  // namespace

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1.0p-53; }

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * uniform(random));
}

Surrogate::Surrogate(const Space& space) : space_(space) {
  const double share =
      std::min(0.5, kExpectedRelevant / static_cast<double>(std::max<std::size_t>(1, space.size())));
  log_odds_ = std::log(share / (1 - share));
  current_.level.assign(space.size(), 0);
  relevance_.assign(space.size(), share);
}

double Surrogate::weight_of(std::size_t knob, int level) const {
  const auto place = static_cast<std::size_t>(level);
  return space_[knob].is_numeric() ? kNumericWeights[place] : kChoiceWeights[place];
}

int Surrogate::levels_of(std::size_t knob) const {
  return static_cast<int>(space_[knob].is_numeric() ? kNumericWeights.size() : kChoiceWeights.size());
}

std::vector<double> Surrogate::place(const Candidate& candidate) const {
  std::vector<double> out(space_.size());
  for (std::size_t k = 0; k < space_.size(); ++k) {
    const Knob& knob = space_[k];
    // What was found may lie far outside; how far says nothing.
    out[k] =
        knob.is_numeric() ? std::clamp(knob.position(candidate.values[k]), -0.25, 1.25) : candidate.values[k];
  }
  return out;
}

double Surrogate::distance(std::size_t knob, const std::vector<double>& a,
                           const std::vector<double>& b) const {
  const double difference = std::fabs(a[knob] - b[knob]);
  if (!space_[knob].is_numeric()) return difference > 0 ? 1 : 0;
  return difference * std::sqrt(difference);
}

const std::vector<double>& Surrogate::correlations(std::size_t knob, int level) {
  std::vector<std::vector<double>>& of_knob = correlations_[knob];
  std::vector<double>& out = of_knob[static_cast<std::size_t>(level)];
  if (out.empty()) {
    const double weight = weight_of(knob, level);
    for (const double distance : distances_[knob]) out.push_back(std::exp(-weight * distance));
  }
  return out;
}

void Surrogate::turn(Draw& draw, std::size_t knob, int level) {
  const int before = draw.level[knob];
  draw.level[knob] = level;
  draw.relevant += (level > 0 ? 1 : 0) - (before > 0 ? 1 : 0);
  const std::vector<double>& distances = distances_[knob];
  const double by = weight_of(knob, level) - weight_of(knob, before);
  for (std::size_t i = 0; i < distances.size(); ++i) draw.exponent[i] += by * distances[i];
  for (const auto& [which, sign] : {std::pair(before, -1.0), std::pair(level, 1.0)}) {
    if (which == 0) continue;
    const std::vector<double>& known = correlations(knob, which);
    for (std::size_t i = 0; i < known.size(); ++i) draw.sum[i] += sign * known[i];
  }
}

bool Surrogate::solve(Draw& draw) const {
  const std::size_t n = values_.size();
  std::vector<double>& l = draw.factor;
  l.assign(n * n, 0);
  const double noise = kNoiseLevels[static_cast<std::size_t>(draw.noise)];
  const double added = draw.relevant == 0 ? 0 : kAdditions[static_cast<std::size_t>(draw.addition)];
  const double per_knob = draw.relevant == 0 ? 0 : added / draw.relevant;
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum =
          i == j ? 1 + noise / runs_[i]
                 : per_knob * draw.sum[at(i, j, n)] + (1 - added) * std::exp(-draw.exponent[at(i, j, n)]);
      for (std::size_t k = 0; k < j; ++k) sum -= l[at(i, k, n)] * l[at(j, k, n)];
      if (i != j) {
        l[at(i, j, n)] = sum / l[at(j, j, n)];
        continue;
      }
      if (!(sum > 1e-12)) return false;
      l[at(i, i, n)] = std::sqrt(sum);
      log_determinant += std::log(sum);
    }
  }
  const auto solved = [&](std::vector<double> b) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= l[at(i, k, n)] * b[k];
      b[i] /= l[at(i, i, n)];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[at(k, i, n)] * b[k];
      b[i] /= l[at(i, i, n)];
    }
    return b;
  };
  draw.ones = solved(std::vector<double>(n, 1.0));
  draw.weights = solved(values_);
  draw.ones_sum = 0;
  double ones_values = 0;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    draw.ones_sum += draw.ones[i];
    ones_values += draw.weights[i];
    squares += draw.weights[i] * values_[i];
  }
  draw.mean = ones_values / draw.ones_sum;
  for (std::size_t i = 0; i < n; ++i) draw.weights[i] -= draw.mean * draw.ones[i];
  squares = std::max(0.0, squares - ones_values * draw.mean);
  const double shape = kPriorShape + (static_cast<double>(n) - 1) / 2;
  draw.variance = (kPriorScale + squares / 2) / shape;
  draw.likelihood = -log_determinant / 2 - std::log(draw.ones_sum) / 2 - shape * std::log(draw.variance);
  for (const int level : draw.level) draw.likelihood += level > 0 ? log_odds_ : 0;
  return true;
}

void Surrogate::step(Draw& draw, std::size_t knob, Random& random) {
  const int levels = levels_of(knob);
  const int now = draw.level[knob];
  // In and out of relevance, or to another length scale; both ways are equally likely, so the ratio of
  // proposal is that of the number of levels, which the prior over them takes back.
  int next = 0;
  if (now == 0) {
    next = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(levels - 1)));
  } else if (uniform(random) < 0.5) {
    next = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(levels - 1)));
  }
  if (next == now) return;
  // Leaving relevance is proposed half as often as entering it.
  const double correction = now == 0 ? std::log(0.5) : next == 0 ? std::log(2.0) : 0;
  Draw tried = draw;
  turn(tried, knob, next);
  if (!solve(tried)) return;
  if (std::log(1 - uniform(random)) < tried.likelihood - draw.likelihood + correction)
    draw = std::move(tried);
}

void Surrogate::step(Draw& draw, int Draw::*parameter, std::size_t places, Random& random) const {
  const int next = draw.*parameter + (uniform(random) < 0.5 ? -1 : 1);
  if (next < 0 || next >= static_cast<int>(places)) return;
  Draw tried = draw;
  tried.*parameter = next;
  if (!solve(tried)) return;
  if (std::log(1 - uniform(random)) < tried.likelihood - draw.likelihood) draw = std::move(tried);
}

double Surrogate::correlation(const Draw& draw, const std::vector<double>& a,
                              const std::vector<double>& b) const {
  if (draw.relevant == 0) return 1;
  const double added = kAdditions[static_cast<std::size_t>(draw.addition)];
  double exponent = 0;
  double sum = 0;
  for (std::size_t k = 0; k < space_.size(); ++k) {
    if (draw.level[k] == 0) continue;
    const double term = weight_of(k, draw.level[k]) * distance(k, a, b);
    exponent += term;
    if (added > 0) sum += std::exp(-term);
  }
  return added * sum / draw.relevant + (1 - added) * std::exp(-exponent);
}

void Surrogate::fit(const std::vector<Example>& examples, Random& random) {
  const std::size_t n = examples.size();
  ROCETUNE_ASSERT(n >= 3);
  places_.clear();
  runs_.clear();
  Moments moments;
  for (const Example& example : examples) {
    places_.push_back(place(example.candidate));
    runs_.push_back(std::max(1, example.runs));
    moments.add(example.value);
  }
  centre_ = moments.mean();
  unit_ = std::max(moments.standard_deviation(), 1e-9);
  values_.clear();
  for (const Example& example : examples) values_.push_back((example.value - centre_) / unit_);

  distances_.assign(space_.size(), std::vector<double>(n * n, 0));
  correlations_.assign(space_.size(), {});
  Draw anew;
  anew.exponent.assign(n * n, 0);
  anew.sum.assign(n * n, 0);
  anew.level.assign(space_.size(), 0);
  const Draw last = std::exchange(current_, anew);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < space_.size(); ++k) {
    correlations_[k].resize(static_cast<std::size_t>(levels_of(k)));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) distances_[k][at(i, j, n)] = distance(k, places_[i], places_[j]);
    }
    order.push_back(k);
    turn(current_, k, last.level[k]);
  }
  current_.noise = last.noise;
  current_.addition = last.addition;
  if (!solve(current_)) {  // too certain about too little: begin anew with more noise
    current_ = anew;
    current_.noise = static_cast<int>(kNoiseLevels.size()) - 1;
    ROCETUNE_ASSERT(solve(current_));
  }

  const int first = draws_.empty() ? 2 * kFirstSweeps : kFirstSweeps;
  draws_.clear();
  std::vector<double> relevant(space_.size(), 0);
  for (int sweep = 0; sweep < first + kDraws * kSweepsBetween; ++sweep) {
    // A knob that no example varies follows its prior: it may matter.
    random.shuffle(std::span(order));
    for (const std::size_t knob : order) step(current_, knob, random);
    for (int i = 0; i < 2; ++i) {
      step(current_, &Draw::noise, kNoiseLevels.size(), random);
      step(current_, &Draw::addition, kAdditions.size(), random);
    }
    if (sweep < first || (sweep - first) % kSweepsBetween != 0) continue;
    draws_.push_back(current_);
    for (std::size_t k = 0; k < space_.size(); ++k) relevant[k] += current_.level[k] > 0 ? 1 : 0;
  }
  for (std::size_t k = 0; k < space_.size(); ++k)
    relevance_[k] = relevant[k] / static_cast<double>(draws_.size());
}

std::vector<Surrogate::Belief> Surrogate::beliefs(const Candidate& candidate) const {
  const std::size_t n = values_.size();
  const std::vector<double> here = place(candidate);
  std::vector<Belief> out;
  std::vector<double> r(n);
  for (const Draw& draw : draws_) {
    double mean = draw.mean;
    double ones = 0;
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = correlation(draw, here, places_[i]);
      mean += r[i] * draw.weights[i];
      ones += r[i] * draw.ones[i];
    }
    double explained = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) r[i] -= draw.factor[at(i, k, n)] * r[k];
      r[i] /= draw.factor[at(i, i, n)];
      explained += r[i] * r[i];
    }
    const double variance =
        draw.variance * std::max(1e-9, 1 - explained + (1 - ones) * (1 - ones) / draw.ones_sum);
    out.push_back({centre_ + unit_ * mean, unit_ * std::sqrt(variance)});
  }
  return out;
}

double Surrogate::expected(const Candidate& candidate) const {
  double sum = 0;
  const std::vector<Belief> all = beliefs(candidate);
  for (const Belief& belief : all) sum += belief.mean;
  return sum / static_cast<double>(all.size());
}

}  // namespace rocetune::search
