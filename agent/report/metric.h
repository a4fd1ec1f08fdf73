// What runs are compared by: numbers of their results, each named by its path in the JSON of a result.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/fabric/sweep.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {

struct Metric {
  std::string path;  // dataplane/base/json_number.h
  std::string title;
  html::Unit unit;  // of the number as it stands there
  enum class Aim { none, most, least };
  Aim aim = Aim::none;
  // Where some traffic is still under way, what is finished looks fast: no best one is named.
  bool is_of_finished = false;
  bool is_asked_for = false;  // shown even if it is 0 everywhere
};

// By the names in its path; nobody says that a result has it.
Metric metric_of(const std::string& path, std::string title);

// What a person asks for; its unit follows from the names in the path. Error (bad_input): no result has it;
// `flag` names it.
Expected<Metric> metric_asked_for(const std::string& path, const std::string& flag);

// What is worth a look with traffic like that of the runs: flows by goodput and completion, jobs by busbw and
// the time of their steps, and for all of them queues, pauses, marks and losses.
std::vector<Metric> usual_metrics(std::span<const fabric::Variation> runs);

// The number of each metric; none where the result does not say.
std::vector<std::optional<double>> measured(const fabric::RunResult& result, std::span<const Metric> metrics);

}  // namespace rocetune::report
