#include "tests/agent/tune/search/rivals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

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
  std::string_view name;
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

struct NloptRun {
  const NloptProblem& problem;
  nlopt_opt opt;
};

double value_for_nlopt(unsigned n, const double* x, double*, void* data) {
  const auto& run = *static_cast<NloptRun*>(data);
  const auto value = run.problem.value_at({x, n});
  if (!value) nlopt_force_stop(run.opt);
  return value.value_or(HUGE_VAL);
}

}  // namespace

std::vector<std::string> nlopt_algorithms() {
  std::vector<std::string> out;
  for (const Algorithm& algorithm : kAlgorithms) out.emplace_back(algorithm.name);
  return out;
}

void nlopt_minimise(const NloptProblem& problem) {
  const auto known = std::ranges::find(kAlgorithms, problem.algorithm, &Algorithm::name);
  ROCETUNE_ASSERT(known != kAlgorithms.end());
  std::vector<double> x = problem.start;
  nlopt_opt opt = nlopt_create(known->code, static_cast<unsigned>(x.size()));
  NloptRun run{problem, opt};
  nlopt_set_lower_bounds1(opt, 0);
  nlopt_set_upper_bounds1(opt, 1);
  nlopt_set_min_objective(opt, value_for_nlopt, &run);
  nlopt_set_maxeval(opt, problem.most_values);
  nlopt_set_initial_step1(opt, problem.first_step);
  double least = 0;
  (void)nlopt_optimize(opt, x.data(), &least);
  nlopt_destroy(opt);
}

RivalResult nlopt_search(Plant& plant, const Policy& policy, const std::string& algorithm, int trials,
                         std::uint64_t seed) {
  nlopt_srand(static_cast<unsigned long>(seed));
  Random random(seed, 5);
  RivalScore score(plant, policy, random.next());
  const Space& space = plant.space();
  RivalResult best{space.start(), 0, trials};
  int done = 0;
  nlopt_minimise({.algorithm = algorithm,
                  .start = start_positions(space),
                  .first_step = 0.2,
                  .most_values = 50 * trials,  // those that a constraint refuses cost no trial
                  .value_at = [&](std::span<const double> x) -> std::optional<double> {
                    Candidate candidate = space.start();
                    for (std::size_t k = 0; k < x.size(); ++k)
                      candidate.values[k] = space[k].at_position(x[k]);
                    candidate = space.canonical(std::move(candidate));
                    if (broken(plant.constraints(), space, candidate)) return kMostGain;
                    if (done++ == trials) return std::nullopt;
                    const double measured = score(candidate);
                    if (measured > best.score) best = {candidate, measured, trials};
                    return -measured;
                  }});
  return best;
}
#else
std::vector<std::string> nlopt_algorithms() { return {}; }
void nlopt_minimise(const NloptProblem&) {}
RivalResult nlopt_search(Plant& plant, const Policy&, const std::string&, int, std::uint64_t) {
  return {plant.space().start(), 0, 0};
}
#endif

std::vector<double> start_positions(const Space& space) {
  std::vector<double> out;
  for (const Knob& knob : space.knobs()) out.push_back(std::clamp(knob.position(knob.start), 0.0, 1.0));
  return out;
}

}  // namespace rocetune::search
