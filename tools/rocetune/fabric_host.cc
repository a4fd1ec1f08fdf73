#include "tools/rocetune/fabric_host.h"

#include "agent/tune/plan.h"
#include "agent/virtual_host/host_facts.h"
#include "agent/virtual_host/scenario_knobs.h"
#include "dataplane/base/file.h"
#include "tools/rocetune/scenario_source.h"

namespace rocetune::cli {
namespace {

using virtual_host::FabricRun;

Expected<fabric::Scenario> scenario_of(const FabricOptions& options) {
  std::vector<TomlSetting> settings;
  for (const std::string& text : options.settings) {
    auto setting = toml_setting(text, "--set");
    if (!setting) return tl::unexpected(setting.error());
    settings.push_back(std::move(*setting));
  }
  const auto source = scenario_source(options.scenario, "--fabric");
  if (!source) return tl::unexpected(source.error());
  auto scenario = fabric::scenario_from_toml(source->text, source->name, settings);
  if (scenario && options.seed) fabric::reseed(*scenario, *options.seed);
  return scenario;
}

Expected<> apply_plan(const std::string& file, fabric::NodeId id, fabric::Scenario& scenario) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()).within("--apply"));
  const auto plan = tune::plan_from_json(*text, file);
  if (!plan) return tl::unexpected(plan.error());
  const host::Host host = virtual_host::host_facts(FabricRun(scenario), id);
  std::string stale;
  for (const std::string& line : tune::staleness(*plan, host)) stale += (stale.empty() ? "" : "; ") + line;
  if (!stale.empty()) {
    return fail(ErrorKind::conflict, "{} was not made for {} as it is: {}", file, virtual_host::name_of(id),
                stale);
  }
  virtual_host::ScenarioKnobs knobs(scenario, id);
  for (const tune::Step& step : plan->steps) {
    std::vector<host::KnobWrite> batch;
    for (const tune::Change& change : step.changes)
      batch.push_back({change.knob, change.before.value_or(change.after), change.after});
    const host::Port* port = host.find_port(step.port);
    if (port == nullptr) return fail(ErrorKind::conflict, "{}: no port {} here", file, step.port);
    if (auto written = knobs.write(*port, batch); !written)
      return tl::unexpected(written.error().within(file));
  }
  return {};
}

}  // namespace

Expected<FabricHost> open_fabric_host(const FabricOptions& options) {
  auto scenario = scenario_of(options);
  if (!scenario) return tl::unexpected(scenario.error());
  if (options.at > scenario->limit) {
    return fail(ErrorKind::bad_input, "--at: found {}, allowed: 0s to {}, the scenario's limit",
                to_text(options.at), to_text(scenario->limit));
  }
  const auto id = virtual_host::host_named(options.host, scenario->topology);
  if (!id) return tl::unexpected(id.error().within("--host"));
  if (!options.plan_file.empty()) {
    if (auto applied = apply_plan(options.plan_file, *id, *scenario); !applied)
      return tl::unexpected(applied.error());
  }
  FabricHost out{std::make_unique<FabricRun>(std::move(*scenario)), *id};
  out.run->advance_to(Instant(options.at));
  return out;
}

}  // namespace rocetune::cli
