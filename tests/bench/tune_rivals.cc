// What tuning is compared with: random search and NLopt on a fabric's plant, and any candidate's score under
// circumstances that nobody has searched on. Prints one JSON object.
//
// usage: tune_rivals random|nlopt|none FABRIC.toml TRIALS SEED [CANDIDATE]
//   random   each trial turns each knob with chance 1/2, to a position drawn evenly on its scale: as what is
//            right mostly stays, it is stronger than turning all of them
//   nlopt    Sbplx (Rowan 1990, NLopt's LN_SBPLX) from the start; choices are positions, rounded
//   none     scores CANDIDATE: "knob=value" in Space::text form, separated by tabs
// What random and nlopt found is, of the best fiftieth of their trials (ten at least), the best by kChoosing
// fresh repeats that runs in all of kRepeats others and loses no more there on what is held out than would
// count as a gain. Its score is that of the others: the natural logarithm of the gain over the baseline.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "agent/tune/fabric_plant/fabric_plant.h"
#include "agent/tune/fabric_plant/tuning.h"
#include "agent/tune/search/score.h"
#include "dataplane/base/file.h"
#include "dataplane/base/random.h"
#include "tests/agent/tune/search/rivals.h"

namespace {

using namespace rocetune;
using namespace rocetune::search;

constexpr std::uint64_t kChosenBy = 1'000'000;  // repeats that choose among the finalists
constexpr std::uint64_t kJudgedBy = 2'000'000;  // repeats of the score that is printed
constexpr int kChoosing = 4;
constexpr int kRepeats = 8;
constexpr int kPerFinalist = 50;  // trials
constexpr int kLeastFinalists = 10;

class Trials {
 public:
  Trials(Plant& plant, const Policy& policy) : plant_(plant), policy_(policy), scorer_(plant, policy) {
    // Where what is there does not run, what doctor's fixes together make of it is the comparison.
    std::vector<Setting> fixes;
    for (const Suggestion& suggestion : plant.suggestions()) {
      if (suggestion.kind == Suggestion::Kind::remedy)
        fixes.insert(fixes.end(), suggestion.settings.begin(), suggestion.settings.end());
    }
    fixed_ = plant.space().with(plant.space().start(), fixes);
  }
  bool is_allowed(const Candidate& candidate) const {
    return plant_.space().is_safe(candidate) && !broken(plant_.constraints(), plant_.space(), candidate);
  }
  // None: it failed, breached, or is not allowed.
  std::optional<double> score(const Candidate& candidate, std::uint64_t repeat) {
    if (!is_allowed(candidate)) return std::nullopt;
    if (!has_baseline_[repeat]) {
      has_baseline_[repeat] = true;
      scorer_.learn_baseline(run(plant_.space().start(), repeat));
      scorer_.learn_fallback(run(fixed_, repeat));
    }
    return scorer_.score(run(candidate, repeat), WorkloadSet::searched);
  }
  // Mean gain of the held-out workloads over the judged repeats, gains and losses alike; none: one did not
  // run.
  std::optional<double> held_out(const Candidate& candidate) {
    Policy plain = policy_;
    plain.loss_weight = 1;
    double sum = 0;
    for (std::uint64_t i = 0; i < kRepeats; ++i) {
      Scorer scorer(plant_, plain);
      scorer.learn_baseline(run(plant_.space().start(), kJudgedBy + i));
      scorer.learn_fallback(run(fixed_, kJudgedBy + i));
      const auto one = scorer.score(run(candidate, kJudgedBy + i), WorkloadSet::held_out);
      if (!one) return std::nullopt;
      sum += *one;
    }
    return sum / kRepeats;
  }
  bool holds(const Candidate& candidate) {
    const auto lost = held_out(candidate);
    return mean(candidate, kJudgedBy, kRepeats) && lost &&
           *lost > -std::log1p(policy_.minimum_gain_percent / 100);
  }
  // Mean over repeats; none if one of them has none.
  std::optional<double> mean(const Candidate& candidate, std::uint64_t first, int repeats) {
    double sum = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto one = score(candidate, first + static_cast<std::uint64_t>(i));
      if (!one) return std::nullopt;
      sum += *one;
    }
    return sum / repeats;
  }
  const Space& space() const { return plant_.space(); }

 private:
  // What is judged is judged more than once, and what is there is compared with each time.
  const Trial& run(const Candidate& candidate, std::uint64_t repeat) {
    const auto [found, is_new] = runs_.try_emplace({candidate, repeat});
    Trial& out = found->second;
    if (!is_new) return out;
    out.candidate = candidate;
    out.repeat = repeat;
    out.observations.resize(plant_.workloads().size());
    for (std::size_t workload = 0; workload < plant_.workloads().size(); ++workload) {
      if (plant_.workloads()[workload].held_out && repeat < kJudgedBy) continue;
      auto seen = plant_.observe({.candidate = candidate, .workload = workload, .repeat = repeat}, {});
      if (seen) out.observations[workload] = std::move(*seen);
    }
    return out;
  }
  Plant& plant_;
  const Policy& policy_;
  Scorer scorer_;
  Candidate fixed_;
  std::map<std::uint64_t, bool> has_baseline_;
  std::map<std::pair<Candidate, std::uint64_t>, Trial> runs_;
};

struct Tried {
  double score;
  Candidate candidate;
};

std::vector<Tried> search_at_random(Trials& trials, int count, std::uint64_t seed) {
  Random random(seed);
  const Space& space = trials.space();
  std::vector<Tried> out;
  for (int done = 0; done < count;) {
    Candidate candidate = space.start();
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (random.below(2) == 0) continue;
      candidate.values[i] = space[i].at_position(static_cast<double>(random.below(1 << 30)) / (1 << 30));
    }
    candidate = space.canonical(candidate);
    // Refused before a trial is spent, as in any search here.
    if (!trials.is_allowed(candidate)) continue;
    const auto score = trials.score(candidate, static_cast<std::uint64_t>(done++) % 4);
    if (score) out.push_back({*score, candidate});
  }
  return out;
}

std::vector<Tried> search_by_nlopt(Trials& trials, int count) {
  const Space& space = trials.space();
  const std::vector<double> start = start_positions(space);
  std::vector<Tried> out;
  nlopt_minimise({.algorithm = "Sbplx",
                  .start = start,
                  .first_step = 0.25,
                  .most_values = count,
                  .value_at = [&](std::span<const double> x) -> std::optional<double> {
                    Candidate candidate = space.start();
                    for (std::size_t i = 0; i < x.size(); ++i) {
                      // A knob that is where it started keeps a start value that no position has.
                      if (std::abs(x[i] - start[i]) > 1e-9) candidate.values[i] = space[i].at_position(x[i]);
                    }
                    candidate = space.canonical(std::move(candidate));
                    const auto score = trials.score(candidate, 0);
                    if (!score) return 10;  // worse than any
                    out.push_back({*score, std::move(candidate)});
                    return -*score;
                  }});
  return out;
}

Candidate best_of(Trials& trials, std::vector<Tried> tried, int count) {
  const auto best_first = [](const Tried& a, const Tried& b) { return a.score > b.score; };
  std::ranges::sort(tried, best_first);
  const auto most = static_cast<std::size_t>(std::max(kLeastFinalists, count / kPerFinalist));
  tried.resize(std::min(most, tried.size()));
  std::vector<Tried> finalists;
  for (Tried& one : tried) {
    if (const auto score = trials.mean(one.candidate, kChosenBy, kChoosing))
      finalists.push_back({*score, std::move(one.candidate)});
  }
  std::ranges::sort(finalists, best_first);
  const auto best =
      std::ranges::find_if(finalists, [&](const Tried& t) { return trials.holds(t.candidate); });
  return best == finalists.end() ? trials.space().start() : best->candidate;
}

std::optional<Candidate> parsed(const Space& space, std::string_view text) {
  Candidate out = space.start();
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\t'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto setting = space.setting(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    if (!setting) {
      fmt::print(stderr, "tune_rivals: {}\n", setting.error().text());
      return std::nullopt;
    }
    out.values[setting->knob] = setting->value;
  }
  return out;
}

std::string settings_text(const Space& space, const Candidate& candidate) {
  std::string out;
  for (const Setting& setting : space.difference(space.start(), candidate))
    out += fmt::format("{}\"{}={}\"", out.empty() ? "" : ",", space[setting.knob].name,
                       space[setting.knob].text(setting.value));
  return "[" + out + "]";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string search = argv[1];
  const int count = std::atoi(argv[3]);
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[4]));
  const auto text = read_file(argv[2]);
  const ConfigFiles configs;
  if (!text) return 2;
  auto plant = fabric_plant::FabricPlant::open(*text, argv[2], {.seed = 1}, configs);
  if (!plant) {
    fmt::print(stderr, "tune_rivals: {}\n", plant.error().text());
    return 2;
  }
  const auto policy = load_policy(configs).and_then(
      [&](Policy shipped) { return fabric_plant::policy_for(**plant, shipped, {}, "--objective"); });
  if (!policy) return 2;
  Trials trials(**plant, *policy);
  Candidate found = trials.space().start();
  if (search == "random") {
    found = best_of(trials, search_at_random(trials, count, seed), count);
  } else if (search == "nlopt") {
    if (nlopt_algorithms().empty()) {
      fmt::print(stderr, "tune_rivals: built without NLopt (libnlopt-dev)\n");
      return 2;
    }
    found = best_of(trials, search_by_nlopt(trials, count), count);
  } else if (argc > 5) {
    const auto given = parsed(trials.space(), argv[5]);
    if (!given) return 2;
    found = *given;
  }
  std::string repeats;
  for (std::uint64_t i = 0; i < kRepeats; ++i) {
    const auto one = trials.score(found, kJudgedBy + i);
    repeats += (i == 0 ? "" : ",") + (one ? fmt::format("{:.4f}", *one) : "null");
  }
  const auto score = trials.mean(found, kJudgedBy, kRepeats);
  const auto held_out = search == "none" ? trials.held_out(found) : std::nullopt;
  fmt::print(
      "{{\"fabric\":\"{}\",\"search\":\"{}\",\"trials\":{},\"seed\":{},\"score\":{},\"held_out\":{},"
      "\"repeats\":[{}],"
      "\"found\":{}}}\n",
      (*plant)->scenario().name, search, count, seed, score ? fmt::format("{:.5f}", *score) : "null",
      held_out ? fmt::format("{:.5f}", *held_out) : "null", repeats, settings_text(trials.space(), found));
}
