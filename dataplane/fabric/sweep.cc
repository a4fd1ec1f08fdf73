#include "dataplane/fabric/sweep.h"

#include <mutex>

#include "dataplane/base/parallel.h"

namespace rocetune::fabric {
namespace {

// Below it a run takes seconds: several threads would spare few of them and use more processor time in all.
constexpr std::uint32_t kHostsWorthAllCores = 2048;

// Cuts at commas that stand in no bracket and no quotes.
std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      out.emplace_back();
      continue;
    }
    out.back() += c;
  }
  return out;
}

// Every combination of the axes' values.
std::vector<std::vector<TomlSetting>> combinations(const std::vector<SweepAxis>& axes) {
  std::vector<std::vector<TomlSetting>> out{{}};
  for (const SweepAxis& axis : axes) {
    std::vector<std::vector<TomlSetting>> longer;
    for (const auto& before : out) {
      for (const std::string& value : axis.values) {
        longer.push_back(before);
        longer.back().push_back({axis.key, value});
      }
    }
    out = std::move(longer);
  }
  return out;
}

struct Task {
  std::vector<TomlSetting> settings;
  Scenario scenario;
  std::optional<RunResult> result;
  double progress = 0;
};

// Runs tasks, and tells how far all of them are.
class Workers {
 public:
  // `threads`: of each run.
  Workers(std::vector<Task>& tasks, std::size_t samples, std::size_t threads,
          const std::function<void(double)>& on_progress)
      : tasks_(tasks), samples_(samples), threads_(threads), on_progress_(on_progress) {}

  void work(std::size_t i) {
    RunOptions options{.threads = threads_, .samples = samples_};
    if (on_progress_) options.on_progress = [&, i](double share) { tell(i, share); };
    tasks_[i].result = run(tasks_[i].scenario, options);
    if (on_progress_) tell(i, 1);
  }

 private:
  void tell(std::size_t task, double share) {
    const std::lock_guard guard(mutex_);
    sum_ += share - tasks_[task].progress;
    tasks_[task].progress = share;
    on_progress_(sum_ / static_cast<double>(tasks_.size()));
  }
  std::vector<Task>& tasks_;
  std::size_t samples_;
  std::size_t threads_;
  const std::function<void(double)>& on_progress_;
  std::mutex mutex_;
  double sum_ = 0;
};

// One run has all cores for itself, if that is worth it or wanted.
std::size_t threads_of_a_run(const std::vector<Task>& tasks, const SweepPlan& plan, std::size_t threads) {
  if (tasks.size() > 1) return 1;
  const bool is_large = tasks.front().scenario.topology.hosts >= kHostsWorthAllCores;
  return plan.threads > 0 || is_large ? threads : 1;
}

}  // namespace

Expected<SweepAxis> sweep_axis(std::string_view text, const std::string& flag) {
  const auto setting = toml_setting(text, flag);
  if (!setting)
    return fail(ErrorKind::bad_input,
                "{}: found {}, allowed: KEY=VALUE,VALUE..., such as hosts.mtu=1024,4096", flag, text);
  return SweepAxis{setting->key, values_of(setting->value)};
}

Expected<std::vector<Variation>> sweep(std::string_view text, const std::string& file, const SweepPlan& plan,
                                       std::size_t cores, const std::function<void(double)>& on_progress) {
  const std::size_t threads = plan.threads > 0 ? plan.threads : cores;
  std::size_t runs = plan.seeds;
  for (const SweepAxis& axis : plan.axes) {
    runs *= axis.values.size();
    if (runs > kMostRuns)
      return fail(ErrorKind::bad_input, "found {} runs or more, allowed: at most {} of all values and seeds",
                  runs, kMostRuns);
  }
  std::vector<Task> tasks;
  for (const std::vector<TomlSetting>& own : combinations(plan.axes)) {
    std::vector<TomlSetting> settings = plan.settings;
    settings.insert(settings.end(), own.begin(), own.end());
    auto scenario = scenario_from_toml(text, file, settings);
    if (!scenario) return tl::unexpected(scenario.error());
    const std::uint64_t first = plan.first_seed.value_or(scenario->seed);
    for (std::uint32_t i = 0; i < plan.seeds; ++i) {
      Task& task = tasks.emplace_back(Task{.settings = own, .scenario = *scenario});
      if (task.scenario.seed != first + i) reseed(task.scenario, first + i);
    }
  }
  Workers workers(tasks, plan.samples, threads_of_a_run(tasks, plan, threads), on_progress);
  for_each_in_parallel(tasks.size(), threads, [&](std::size_t i) { workers.work(i); });
  std::vector<Variation> out;
  out.reserve(tasks.size());
  for (Task& task : tasks) out.push_back({std::move(task.settings), std::move(*task.result)});
  return out;
}

}  // namespace rocetune::fabric
