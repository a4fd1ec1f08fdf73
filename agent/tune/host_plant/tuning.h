// A tuning run of hosts, from what was asked to what is to be done, as one value: what terminals and JSON are
// made of.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/host_plant/host_plant.h"
#include "agent/tune/search/outcome.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::tune {

struct HostTuning {
  std::string command;  // that makes it again
  search::Outcome outcome;
  std::vector<search::PlanStep> plan;
  std::vector<Plan> host_plans;  // as apply takes them, by host; empty ones: nothing to change
  // Transactions by host, 0: nothing to do; none: nothing was committed.
  std::optional<std::vector<std::int64_t>> committed;
  std::string commit_error;             // it was asked for and failed; empty: it was not, or did not
  std::vector<std::string> undo;        // commands that take back what is committed
  std::vector<std::string> plan_files;  // written, by host
};

// Members, beside search::write_outcome's: plan[], best_settings[], hosts[] (name, ports[], plan,
// transaction), committed, undo[], findings[], space[], left_out[], constraints[], suggestions[].
// `more` adds members.
using MoreMembers = std::function<void(JsonWriter&)>;
std::string json_of(const HostTuning& tuning, const HostPlant& plant, bool with_series,
                    const MoreMembers& more = {});
// What a search would turn, and what doctor says, without one.
std::string space_json(const HostPlant& plant, const MoreMembers& more = {});

}  // namespace rocetune::tune
