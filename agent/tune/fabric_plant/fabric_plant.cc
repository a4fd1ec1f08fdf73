#include "agent/tune/fabric_plant/fabric_plant.h"

#include <algorithm>

#include "agent/tune/fabric_plant/circumstances.h"
#include "agent/tune/fabric_plant/constraints.h"
#include "agent/tune/fabric_plant/measure.h"
#include "agent/tune/fabric_plant/presets.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/parallel.h"
#include "dataplane/base/random.h"
#include "dataplane/base/sha256.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::Scenario;

constexpr std::string_view kOtherSeeds = ", other seeds";

bool is_named(const std::vector<std::string>& patterns, std::string_view knob) {
  return std::ranges::any_of(patterns, [&](const std::string& p) { return names_knob(p, knob); });
}

// Every pattern has to name something.
Expected<> check_patterns(const std::vector<std::string>& patterns, const KnobTable& table,
                          const std::string& where) {
  std::vector<std::string> names;
  for (const FabricKnob& knob : table.knobs) names.push_back(knob.knob.name);
  for (const LeftOut& knob : table.left_out) names.push_back(knob.knob);
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(names, [&](const std::string& name) { return names_knob(pattern, name); }))
      continue;
    return tl::unexpected(
        bad_input({{.place = {},
                    .key = where,
                    .found = pattern,
                    .allowed = "a knob of this fabric, or the beginning of some as in hosts.*",
                    .nearest = nearest_name(pattern, names)}}));
  }
  return {};
}

// In less than a round trip nothing is ever acknowledged: all runs would be alike.
Expected<> check_limit(const Scenario& scenario, const std::string& file) {
  const double least_us = idle_round_trip_us(scenario);
  if (scenario.limit.seconds() * 1e6 > least_us) return {};
  return tl::unexpected(
      bad_input({{.place = {},
                  .key = file + ": limit",
                  .found = to_text(scenario.limit),
                  .allowed = fmt::format("more than {:.3g} us, a round trip of the idle fabric", least_us),
                  .nearest = ""}}));
}

// DCQCN's knobs and those of marking do something while it is on, thresholds of lossless classes while there
// are some.
void set_lives(std::vector<search::Knob>& knobs) {
  const auto choice_of = [&](std::string_view name, const auto& fits) -> std::optional<search::Knob::Life> {
    const auto knob = std::ranges::find(knobs, name, &search::Knob::name);
    if (knob == knobs.end()) return std::nullopt;
    search::Knob::Life life{.knob = static_cast<std::size_t>(knob - knobs.begin()), .values = {}};
    for (std::size_t i = 0; i < knob->choices.size(); ++i) {
      if (fits(knob->choices[i])) life.values.push_back(static_cast<double>(i));
    }
    return life;
  };
  const auto dcqcn = choice_of("hosts.controller", [](const std::string& c) { return c == "dcqcn"; });
  const auto pfc = choice_of("classes.lossless", [](const std::string& c) { return c != "{}"; });
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    search::Knob& knob = knobs[i];
    const bool needs_dcqcn = knob.name.starts_with("hosts.rp_") || knob.name.starts_with("hosts.np_") ||
                             knob.name.starts_with("switches.k") || knob.name == "switches.pmax" ||
                             knob.name == "switches.marked";
    const bool needs_pfc = knob.name == "switches.headroom" || knob.name == "switches.alpha_exponent" ||
                           knob.name == "switches.watchdog" || knob.name == "hosts.storm_prevention";
    const auto& life = needs_dcqcn ? dcqcn : needs_pfc ? pfc : std::nullopt;
    if (life && life->knob < i) knob.lives_while = life;
  }
}

// Suggestions of one rule have names of their own.
std::string id_of(const FabricFinding& finding) {
  return finding.where.empty() ? finding.rule : finding.rule + " " + finding.where;
}

}  // namespace

Expected<std::unique_ptr<FabricPlant>> FabricPlant::open(std::string_view text, const std::string& file,
                                                         const FabricOptions& options,
                                                         const ConfigFiles& configs) {
  auto own = fabric::scenario_from_toml(text, file, options.settings);
  if (!own) return tl::unexpected(own.error());
  if (own->options.switches.ingress.flow_control == fabric::FlowControl::credits) {
    return fail(ErrorKind::bad_input,
                "{}: found link = \"infiniband\", allowed: \"ethernet\": credits have nothing to tune", file);
  }
  auto table = tune_table_from_toml(text, file, options.settings, workload_names(*own));
  if (!table) return tl::unexpected(table.error());
  std::unique_ptr<FabricPlant> out(new FabricPlant());
  out->seed_ = options.seed;
  out->table_ = std::move(*table);
  const auto add = [&](const std::string& name, bool is_held_out) -> Expected<> {
    auto scenario = under_workload(*own, text, file, options.settings, name);
    if (!scenario) return tl::unexpected(scenario.error());
    const auto weight = out->table_.workload_weights.find(name);
    out->workloads_.push_back({.name = name,
                               .weight = weight == out->table_.workload_weights.end() ? 1 : weight->second,
                               .held_out = is_held_out});
    out->runs_.push_back(with_own_parts(std::move(*scenario)));
    return check_limit(out->runs_.back(), file);
  };
  for (const std::string& name : out->table_.workloads) {
    if (auto added = add(name, false); !added) return tl::unexpected(added.error());
  }
  for (const std::string& name : out->table_.held_out) {
    if (auto added = add(name, true); !added) return tl::unexpected(added.error());
  }
  if (out->table_.held_out.empty()) {
    // Nothing is held out: the first workload once more, under seeds that nobody has searched on.
    out->workloads_.push_back(
        {.name = out->workloads_.front().name + std::string(kOtherSeeds), .weight = 1, .held_out = true});
    out->runs_.push_back(out->runs_.front());
  }
  out->bones_ = out->runs_.front();
  out->bones_.flows.clear();
  out->bones_.traffic.clear();
  out->bones_.jobs.clear();
  const bool is_any_flow =
      std::ranges::any_of(out->runs_, [](const Scenario& s) { return !s.flows.empty(); });
  if (auto chosen = out->choose_knobs(knobs_of(out->runs_.front(), file, is_any_flow), file, options);
      !chosen)
    return tl::unexpected(chosen.error());
  out->constraints_ = constraints_of(out->bones_, out->knobs_, out->space_);
  auto diagnosis = diagnose_fabric(out->runs_.front(), out->knobs_, out->space_, configs, options.stop);
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  out->diagnosis_ = std::move(*diagnosis);
  out->suggest();
  Sha256 identity;
  identity.add(text).add(options.seed);
  for (const TomlSetting& setting : options.settings) identity.add(setting.key + "=" + setting.value + "\n");
  // What a trial is, where the file does not say it: another version may mean something else.
  identity.add(static_cast<std::uint64_t>(out->table_.runs)).add(std::uint64_t{kHeldOutRuns});
  out->traits_ = {.name = "fabric " + own->name,
                  .identity = to_text(identity.finish()),
                  .is_repeatable = true,
                  .parallel = std::max<std::size_t>(options.threads, 1),
                  .watches_held_out = true,
                  .runs = out->table_.runs};
  return out;
}

Expected<> FabricPlant::choose_knobs(KnobTable table, const std::string& file, const FabricOptions& options) {
  const std::pair<const std::vector<std::string>*, std::string> named[] = {
      {&table_.only, file + ": tune.only"},
      {&table_.without, file + ": tune.without"},
      {&options.only, "--only"},
      {&options.without, "--without"}};
  for (const auto& [patterns, where] : named) {
    if (auto checked = check_patterns(*patterns, table, where); !checked) return checked;
  }
  std::vector<search::Knob> knobs;
  left_out_ = std::move(table.left_out);
  for (FabricKnob& knob : table.knobs) {
    const std::string& name = knob.knob.name;
    const bool is_wanted = (table_.only.empty() || is_named(table_.only, name)) &&
                           (options.only.empty() || is_named(options.only, name)) &&
                           !is_named(table_.without, name) && !is_named(options.without, name);
    if (!is_wanted) {
      left_out_.push_back({name, "not to be turned, as asked for"});
      continue;
    }
    knobs.push_back(knob.knob);
    knobs_.push_back(std::move(knob));
  }
  if (knobs.empty()) return fail(ErrorKind::bad_input, "{}: there is no knob left to turn", file);
  set_lives(knobs);
  auto space = search::Space::of(std::move(knobs));
  if (!space) return tl::unexpected(space.error());
  space_ = std::move(*space);
  return {};
}

void FabricPlant::suggest() {
  for (const FabricFinding& finding : diagnosis_.findings) {
    if (finding.settings.empty()) continue;
    suggestions_.push_back({.kind = search::Suggestion::Kind::remedy,
                            .id = id_of(finding),
                            .reason = finding.where + ": " + finding.cause,
                            .settings = finding.settings,
                            .is_vital = finding.severity == diagnose::Severity::critical});
  }
  for (search::Suggestion& preset : presets_of(bones_, space_)) suggestions_.push_back(std::move(preset));
}

Scenario FabricPlant::circumstances(const search::Request& request, int run) const {
  std::uint64_t state = seed_ * 1'000'003 + request.repeat;
  // What is held out never meets circumstances of the search.
  if (workloads_[request.workload].held_out) state ^= std::uint64_t{1} << 63;
  std::uint64_t seed = 0;
  for (int i = 0; i <= run; ++i) seed = splitmix64(state);
  return under_circumstances(runs_[request.workload], seed, table_.jitter);
}

search::Observation FabricPlant::observe_once(const search::Request& request, int run,
                                              const std::stop_token& stop) const {
  const SystemClock clock;
  const Instant begin = clock.now();
  Scenario scenario = circumstances(request, run);
  write(knobs_, space_, request.candidate, scenario);
  fabric::RunOptions options;
  if (request.with_series && run == 0) options.samples = kSamples;
  options.stop = stop;
  search::Observation out = observation_of(fabric::run(scenario, options), scenario);
  out.took_ns = (clock.now() - begin) / nanoseconds(1);
  return out;
}

Expected<search::Observation> FabricPlant::observe(const search::Request& request, std::stop_token stop) {
  return std::move(observe_all({request}, stop).front());
}

std::vector<Expected<search::Observation>> FabricPlant::observe_all(
    const std::vector<search::Request>& requests, const std::stop_token& stop) {
  std::vector<std::vector<search::Observation>> seen(requests.size());
  std::vector<std::pair<std::size_t, int>> runs;  // request, and which of its runs
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const int times = table_.runs * (workloads_[requests[i].workload].held_out ? kHeldOutRuns : 1);
    seen[i].resize(static_cast<std::size_t>(times));
    for (int run = 0; run < times; ++run) runs.emplace_back(i, run);
  }
  for_each_in_parallel(runs.size(), traits_.parallel, [&](std::size_t i) {
    const auto [request, run] = runs[i];
    if (stop.stop_requested()) return;
    seen[request][static_cast<std::size_t>(run)] = observe_once(requests[request], run, stop);
  });
  std::vector<Expected<search::Observation>> out;
  for (const std::vector<search::Observation>& all : seen) {
    if (stop.stop_requested())
      out.emplace_back(fail(ErrorKind::conflict, "stopped"));
    else
      out.emplace_back(together(all));
  }
  return out;
}

}  // namespace rocetune::fabric_plant
