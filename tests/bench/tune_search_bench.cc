// How much of what can be had a search finds on synthetic plants: ours, random search and NLopt on one
// budget, random search on many more trials beside them. Judged without noise.
//
//   tune_search_bench [PLANTS [SEEDS [BUDGET [RANDOM_TRIALS [NOISE]]]]]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "agent/tune/search/tuner.h"
#include "dataplane/base/statistics.h"
#include "dataplane/base/text_table.h"
#include "tests/agent/tune/search/rivals.h"
#include "tests/agent/tune/search/synthetic_plant.h"

namespace rocetune::search {
namespace {

struct Tally {
  std::vector<double> shares;  // of the best known, as throughput and times
  int below = 0;
};

int run(int plants, int seeds, int budget, int random_trials, double noise) {
  const Policy policy = shipped_policy();
  std::map<std::string, Tally> tallies;
  std::vector<std::string> rivals{"rocetune", "random"};
  for (const std::string& name : nlopt_algorithms()) rivals.push_back(name);
  TextTable each({{"plant"},
                  {"optimum", "%"},
                  {"random, many", "%"},
                  {"rocetune", "%, worst seed"},
                  {"trials", "mean"},
                  {"verdicts"}});
  for (int p = 1; p <= plants; ++p) {
    SyntheticOptions options;
    options.seed = static_cast<std::uint64_t>(p);
    options.faults = p % 4;
    options.noise = noise;
    options.common_noise = 2 * noise;
    options.has_false_remedy = p % 3 == 0;
    options.knows_remedies = p % 5 != 0;
    SyntheticWorld world;
    SyntheticPlant plant(options, world);
    const auto truth = [&](const Candidate& c) { return plant.true_score(c, policy).value_or(-5); };
    const double optimum = truth(plant.optimum());
    const double many = truth(random_search(plant, policy, random_trials, 1).best);
    const double best = many;
    Moments trials;
    double worst = 1e9;
    std::string verdicts;
    for (int seed = 1; seed <= seeds; ++seed) {
      TuneOptions tuned;
      tuned.budget.trials = budget;
      tuned.seed = static_cast<std::uint64_t>(seed);
      const Outcome outcome = tune(plant, policy, tuned, nullptr, {});
      const double score = truth(outcome.best);
      trials.add(static_cast<double>(outcome.trials.size()));
      worst = std::min(worst, score);
      verdicts += outcome.verdict == Verdict::change      ? 'c'
                  : outcome.verdict == Verdict::no_change ? 'n'
                                                          : '!';
      for (const std::string& rival : rivals) {
        double found = score;
        if (rival == "random")
          found = truth(random_search(plant, policy, budget, 100 + tuned.seed).best);
        else if (rival != "rocetune")
          found = truth(nlopt_search(plant, policy, rival, budget, tuned.seed).best);
        Tally& tally = tallies[rival];
        tally.shares.push_back(std::exp(found - best));
        tally.below += found < best + std::log(0.95) ? 1 : 0;
      }
    }
    each.add_row({std::to_string(p), fmt::format("{:+.0f}", 100 * std::expm1(optimum)),
                  fmt::format("{:+.0f}", 100 * std::expm1(many)),
                  fmt::format("{:+.0f}", 100 * std::expm1(worst)), fmt::format("{:.0f}", trials.mean()),
                  verdicts});
  }
  fmt::print("{}\n", each.text());
  TextTable table({{"search"},
                   {"runs", "", Align::right},
                   {"below 95 % of random, many", "runs", Align::right},
                   {"median share", "%", Align::right},
                   {"worst share", "%", Align::right}});
  for (const std::string& rival : rivals) {
    Tally& tally = tallies[rival];
    table.add_row({rival, std::to_string(tally.shares.size()), std::to_string(tally.below),
                   fmt::format("{:.1f}", 100 * median(tally.shares)),
                   fmt::format("{:.1f}", 100 * *std::min_element(tally.shares.begin(), tally.shares.end()))});
  }
  fmt::print("{}", table.text());
  if (nlopt_algorithms().empty()) fmt::print("NLopt: not built\n");
  return 0;
}

}  // namespace
}  // namespace rocetune::search

int main(int argc, char** argv) {
  const auto number = [&](int place, double otherwise) {
    return argc > place ? std::atof(argv[place]) : otherwise;
  };
  return rocetune::search::run(static_cast<int>(number(1, 10)), static_cast<int>(number(2, 5)),
                               static_cast<int>(number(3, 60)), static_cast<int>(number(4, 2000)),
                               number(5, 0.01));
}
