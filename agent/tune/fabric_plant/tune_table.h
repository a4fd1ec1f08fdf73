// [tune] of a fabric file: what is measured, what is held out, what may be turned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/tune/search/policy.h"
#include "dataplane/base/toml_settings.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

struct TuneTable {
  std::vector<std::string> workloads;              // searched on; in the file's order
  std::vector<std::string> held_out;               // never searched on
  std::map<std::string, double> workload_weights;  // by name; 1 where none is said
  std::vector<std::string> only;                   // knobs that may be turned; empty: all
  std::vector<std::string> without;                // that may not
  // Flows start up to so much later than they say, another time in each repeat: hosts never start as one.
  Duration jitter = microseconds(2);
  // A trial runs each workload so many times, each under circumstances of its own: what breaks down now and
  // then shows in one of several, and simulated runs are cheap where trials are counted. With three the
  // draw of random arrivals decided now and then, with nine it seldom does (docs/decisions/0007).
  int runs = 9;
  std::array<std::optional<double>, search::kObjectives> weights;  // in place of configs/tune/objectives.toml
};

// `workloads`: the scenario's own and its [[workloads]], by name. Without [tune] all of them are searched on.
// Error: bad_input with every issue of the table.
Expected<TuneTable> tune_table_from_toml(std::string_view text, const std::string& file,
                                         const std::vector<TomlSetting>& settings,
                                         const std::vector<std::string>& workloads);

// Of the scenario of a file: the workload that it runs first, then the others.
std::vector<std::string> workload_names(const fabric::Scenario& own);
// `own` under one of its workloads, from the text that it was made of.
Expected<fabric::Scenario> under_workload(const fabric::Scenario& own, std::string_view text,
                                          const std::string& file, std::vector<TomlSetting> settings,
                                          const std::string& name);

// "switches.kmin" names itself, "hosts.*" everything that begins with "hosts.".
bool names_knob(std::string_view pattern, std::string_view knob);

}  // namespace rocetune::fabric_plant
