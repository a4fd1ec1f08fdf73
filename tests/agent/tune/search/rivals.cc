#include "tests/agent/tune/search/rivals.h"

#include <array>
#include <cmath>

#include "agent/tune/search/score.h"
#include "agent/tune/search/surrogate.h"

#ifdef ROCETUNE_HAVE_NLOPT
#include <nlopt.h>
#endif

namespace rocetune::search {

RivalScore::RivalScore(Plant& plant, const Policy& policy, std::uint64_t repeat)
    : plant_(plant), policy_(policy), repeat_(repeat) {
  for (std::size_t w = 0; w < plant.workloads().size(); ++w) {
    baseline_.emplace_back();
    if (plant.workloads()[w].held_out) continue;
    auto observation = plant.observe({plant.space().start(), w, repeat}, {});
    ROCETUNE_ASSERT(observation.has_value());
    baseline_.back() = std::move(*observation);
  }
}

double RivalScore::operator()(const Candidate& candidate) {
  Scorer scorer(plant_, policy_);
  Trial baseline;
  baseline.repeat = repeat_;
  Trial trial;
  trial.repeat = repeat_;
  trial.candidate = plant_.space().canonical(candidate);
  for (std::size_t w = 0; w < plant_.workloads().size(); ++w) {
    baseline.observations.emplace_back(baseline_[w]);
    trial.observations.emplace_back();
    if (plant_.workloads()[w].held_out) continue;
    auto observation = plant_.observe({trial.candidate, w, repeat_}, {});
    ROCETUNE_ASSERT(observation.has_value());
    trial.observations.back() = std::move(*observation);
  }
  scorer.learn_baseline(baseline);
  return scorer.score(trial, WorkloadSet::searched).value_or(-kMostGain);
}

Candidate random_candidate(const Plant& plant, Random& random) {
  const Space& space = plant.space();
  for (int attempt = 0; attempt < 10000; ++attempt) {
    Candidate out = space.start();
    for (std::size_t k = 0; k < space.size(); ++k) {
      const Knob& knob = space[k];
      if (knob.is_numeric()) {
        out.values[k] = knob.at_position(uniform(random));
        continue;
      }
      do {
        out.values[k] = static_cast<double>(random.below(static_cast<std::uint64_t>(knob.count())));
      } while (!knob.is_safe(out.values[k]));
    }
    out = space.canonical(std::move(out));
    if (!broken(plant.constraints(), space, out)) return out;
  }
  return space.start();
}

RivalResult random_search(Plant& plant, const Policy& policy, int trials, std::uint64_t seed) {
  Random random(seed, 5);
  RivalScore score(plant, policy, random.next());
  RivalResult out{plant.space().start(), 0, trials};
  for (int i = 0; i < trials; ++i) {
    const Candidate candidate = random_candidate(plant, random);
    const double measured = score(candidate);
    if (measured > out.score) out = {candidate, measured, trials};
  }
  return out;
}

#ifdef ROCETUNE_HAVE_NLOPT
namespace {

struct Algorithm {
  const char* name;
  nlopt_algorithm code;
};
constexpr std::array kAlgorithms{
    Algorithm{"CRS2", NLOPT_GN_CRS2_LM},
    Algorithm{"DIRECT-L", NLOPT_GN_DIRECT_L_RAND},
    Algorithm{"ISRES", NLOPT_GN_ISRES},
    Algorithm{"BOBYQA", NLOPT_LN_BOBYQA},
    Algorithm{"Nelder-Mead", NLOPT_LN_NELDERMEAD},
    Algorithm{"Sbplx", NLOPT_LN_SBPLX},
};

struct Problem {
  Plant& plant;
  RivalScore& score;
  int trials;
  int done = 0;
  nlopt_opt opt = nullptr;
  RivalResult best;
};

double objective(unsigned n, const double* x, double*, void* data) {
  auto& problem = *static_cast<Problem*>(data);
  const Space& space = problem.plant.space();
  Candidate candidate = space.start();
  for (unsigned k = 0; k < n; ++k) {
    const Knob& knob = space[k];
    candidate.values[k] =
        knob.is_numeric() ? knob.at_position(x[k]) : knob.nearest_safe(std::round(x[k] * (knob.count() - 1)));
  }
  candidate = space.canonical(std::move(candidate));
  if (broken(problem.plant.constraints(), space, candidate)) return kMostGain;
  if (problem.done == problem.trials) {
    nlopt_force_stop(problem.opt);
    return kMostGain;
  }
  ++problem.done;
  const double measured = problem.score(candidate);
  if (measured > problem.best.score) problem.best = {candidate, measured, problem.trials};
  return -measured;
}

}  // namespace

std::vector<std::string> nlopt_algorithms() {
  std::vector<std::string> out;
  for (const Algorithm& algorithm : kAlgorithms) out.emplace_back(algorithm.name);
  return out;
}

RivalResult nlopt_search(Plant& plant, const Policy& policy, const std::string& algorithm, int trials,
                         std::uint64_t seed) {
  nlopt_srand(static_cast<unsigned long>(seed));
  Random random(seed, 5);
  RivalScore score(plant, policy, random.next());
  Problem problem{plant, score, trials, 0, nullptr, {plant.space().start(), 0, trials}};
  for (const Algorithm& known : kAlgorithms) {
    if (known.name != algorithm) continue;
    const auto n = static_cast<unsigned>(plant.space().size());
    nlopt_opt opt = nlopt_create(known.code, n);
    problem.opt = opt;
    nlopt_set_lower_bounds1(opt, 0);
    nlopt_set_upper_bounds1(opt, 1);
    nlopt_set_min_objective(opt, objective, &problem);
    nlopt_set_maxeval(opt, 50 * trials);  // evaluations that a constraint refuses cost no trial
    nlopt_set_initial_step1(opt, 0.2);
    std::vector<double> x;
    for (const Knob& knob : plant.space().knobs())
      x.push_back(std::min(1.0, std::max(0.0, knob.position(knob.start))));
    double least = 0;
    (void)nlopt_optimize(opt, x.data(), &least);
    nlopt_destroy(opt);
  }
  return problem.best;
}
#else
std::vector<std::string> nlopt_algorithms() { return {}; }
RivalResult nlopt_search(Plant& plant, const Policy&, const std::string&, int, std::uint64_t) {
  return {plant.space().start(), 0, 0};
}
#endif

}  // namespace rocetune::search
