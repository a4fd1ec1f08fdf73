// Small fabrics, and a plant of one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "agent/tune/fabric_plant/fabric_plant.h"
#include "agent/tune/search/constraint.h"

namespace rocetune::fabric_plant {

// Two leaves of two hosts each; nothing is wrong.
inline constexpr std::string_view kSmall = R"(
name = "small"
limit = "2ms"
[topology]
shape = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 2
spine_rate = "200Gbps"
[hosts]
mtu = 4096
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "150kB"
alpha_exponent = 0
kmin = "100kB"
kmax = "400kB"
pmax = "20%"
)";
inline constexpr std::string_view kTraffic = R"(
[[flows]]
pattern = "incast"
to = 0
senders = 3
bytes = "300kB"
)";

// `more` stands between kSmall, of which single keys are best changed by `settings`, and the traffic.
inline Expected<std::unique_ptr<FabricPlant>> try_plant(const std::string& more = "",
                                                        const FabricOptions& options = {}) {
  return FabricPlant::open(std::string(kSmall) + more + std::string(kTraffic), "small.toml", options,
                           ConfigFiles());
}
inline std::unique_ptr<FabricPlant> plant_of(const std::string& more = "", const FabricOptions& options = {}) {
  auto plant = try_plant(more, options);
  if (!plant) ADD_FAILURE() << plant.error().text();
  return plant ? std::move(*plant) : nullptr;
}
inline FabricOptions with(std::vector<TomlSetting> settings) { return {.settings = std::move(settings)}; }

inline search::Candidate candidate_of(const FabricPlant& plant,
                                      const std::vector<std::pair<std::string, std::string>>& settings) {
  search::Candidate out = plant.space().start();
  for (const auto& [knob, value] : settings) {
    const auto setting = plant.space().setting(knob, value);
    EXPECT_TRUE(setting) << setting.error().text();
    if (setting) out.values[setting->knob] = setting->value;
  }
  return out;
}

// The scenario that a candidate makes of the plant's first workload.
fabric::Scenario changed(const FabricPlant& plant, const search::Candidate& candidate);

inline const FabricFinding* finding_of(const FabricPlant& plant, std::string_view rule,
                                       std::string_view where = {}) {
  for (const FabricFinding& finding : plant.diagnosis().findings) {
    if (finding.rule == rule && (where.empty() || finding.where == where)) return &finding;
  }
  return nullptr;
}

}  // namespace rocetune::fabric_plant
