// One scenario many times: with other values, with other seeds. Runs know nothing of each other, so as many
// go at once as there are cores, and the order of the results is that of the question.
#pragma once

#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

// One key and the values it takes, as --sweep says them.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};
// "a.b=v1,v2". Commas within brackets and quotes belong to a value. Error (bad_input); `flag` names it.
Expected<SweepAxis> sweep_axis(std::string_view text, const std::string& flag);

struct SweepPlan {
  std::vector<TomlSetting> settings;        // in every run
  std::vector<SweepAxis> axes;              // every combination; the last one changes fastest
  std::uint32_t seeds = 1;                  // each combination with so many seeds, from `first_seed` on
  std::optional<std::uint64_t> first_seed;  // none: the scenario's own
  std::size_t samples = 0;                  // RunOptions
  std::size_t threads = 0;  // in all; 0: as many as cores, where a single run is large enough for them
};
constexpr std::size_t kMostRuns = 10'000;

struct Variation {
  std::vector<TomlSetting> settings;  // what the axes set
  RunResult result;
};

// Error (bad_input): the scenario is wrong in one of the combinations, before anything is run.
// `on_progress`: as RunOptions, of all runs together; called by one thread at a time.
Expected<std::vector<Variation>> sweep(std::string_view text, const std::string& file, const SweepPlan& plan,
                                       std::size_t cores, const std::function<void(double)>& on_progress);

}  // namespace rocetune::fabric
