// What the trials so far say about candidates that were not tried: a Gaussian process over the space,
// averaged over what its own parameters may be.
//
// Of dozens of knobs a few matter, and dozens of trials do not say which beyond doubt. So every knob is
// relevant or not (George and McCulloch, "Variable selection via Gibbs sampling", JASA 88, 1993; as a prior
// for Gaussian processes Eriksson and Jankowiak, "High-dimensional Bayesian optimization with sparse
// axis-aligned subspaces", UAI 2021), with a length scale if it is; sets of relevant knobs are drawn by
// Metropolis steps on the marginal likelihood (Rasmussen and Williams, "Gaussian Processes for Machine
// Learning", 2006, 2.7 and 5.4), and what is believed is the average over the draws. Correlation: product
// over relevant knobs of exp(-w |x - x'|^1.5) for numbers, of exp(-w) for differing choices.
#pragma once

#include <cstddef>
#include <vector>

#include "agent/tune/search/space.h"
#include "dataplane/base/random.h"

namespace rocetune::search {

class Surrogate {
 public:
  explicit Surrogate(const Space& space);

  struct Example {
    Candidate candidate;
    double value = 0;
    int runs = 1;  // that `value` is the mean of
  };
  // At least 3 examples. Draws go on from those of the last fit.
  void fit(const std::vector<Example>& examples, Random& random);

  struct Belief {
    double mean = 0;
    double sd = 0;
  };
  // One belief per draw, at least one after fit().
  std::vector<Belief> beliefs(const Candidate& candidate) const;
  // Mean over the draws.
  double expected(const Candidate& candidate) const;
  // Share of draws in which the knob matters, 0..1; the prior's before fit().
  double relevance(std::size_t knob) const { return relevance_[knob]; }

 private:
  // Parameters of the process and what follows from them for the examples.
  struct Draw {
    std::vector<int> level;        // by knob: 0 irrelevant, else a place in the table of weights
    int noise = 2;                 // place in the table of noise levels
    int addition = 1;              // place in the table of shares of the mean over knobs
    int relevant = 0;              // knobs
    std::vector<double> exponent;  // n × n, lower triangle: sum of w × distance
    std::vector<double> sum;       // of the relevant knobs' correlations
    std::vector<double> factor;    // Cholesky factor of the covariance, n × n, lower triangle
    std::vector<double> weights;   // K^-1 (y - mean)
    std::vector<double> ones;      // K^-1 1
    double ones_sum = 0;           // 1' K^-1 1
    double mean = 0;
    double variance = 0;
    double likelihood = 0;  // logarithm, with the prior
  };
  double weight_of(std::size_t knob, int level) const;
  int levels_of(std::size_t knob) const;
  double distance(std::size_t knob, const std::vector<double>& a, const std::vector<double>& b) const;
  std::vector<double> place(const Candidate& candidate) const;
  // The knob gets another level.
  void turn(Draw& draw, std::size_t knob, int level);
  const std::vector<double>& correlations(std::size_t knob, int level);
  bool solve(Draw& draw) const;
  void step(Draw& draw, std::size_t knob, Random& random);
  // Of a parameter of the whole process: one place up or down in its table.
  void step(Draw& draw, int Draw::*parameter, std::size_t places, Random& random) const;
  double correlation(const Draw& draw, const std::vector<double>& a, const std::vector<double>& b) const;

  const Space& space_;
  double log_odds_;  // of a knob's relevance, prior
  std::vector<std::vector<double>> places_;
  std::vector<std::vector<double>> distances_;  // by knob, n × n lower triangle; empty: all 0
  std::vector<std::vector<std::vector<double>>> correlations_;  // by knob and level, once needed
  std::vector<double> values_;                                  // standardised
  std::vector<int> runs_;
  double centre_ = 0;
  double unit_ = 1;
  Draw current_;
  std::vector<Draw> draws_;
  std::vector<double> relevance_;
};

// Uniform in [0, 1).
double uniform(Random& random);
// Standard normal (Box and Muller, Annals of Mathematical Statistics 29(2), 1958).
double normal(Random& random);

}  // namespace rocetune::search
