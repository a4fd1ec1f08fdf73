// Small networks that several tests use.
#pragma once

#include <gtest/gtest.h>

#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

inline Scenario scenario_of(const std::string& text, const std::vector<TomlSetting>& settings = {}) {
  auto scenario = scenario_from_toml(text, "test.toml", settings);
  EXPECT_TRUE(scenario) << scenario.error().text();
  return scenario.value_or(Scenario());
}

inline RunResult result_of(const std::string& text, const std::vector<TomlSetting>& settings = {},
                           const RunOptions& options = {}) {
  return run(scenario_of(text, settings), options);
}

inline std::string violations(const RunResult& result) {
  std::string out;
  for (const CheckerResult& c : result.checkers) {
    if (!c.holds) out += c.name + ": " + c.found + "\n";
  }
  return out;
}

}  // namespace rocetune::fabric
