// Numbers of a JSON document by their path: "flows.fct_us.p99", "jobs.0.steps.1.busbw_gbps". An element of an
// array is named by its number, by its member "name" ("ports.switch 0 port 3.drops"), or "*": the largest of
// all elements. True counts as 1, false as 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dataplane/base/json_reader.h"

namespace rocetune {

// None: it is not there, or no number.
std::optional<double> number_at(const Json& document, std::string_view path);

// What is wrong with a path, in the words of an InputIssue.
struct PathProblem {
  std::string allowed;
  std::string nearest;  // a whole path; empty if nothing is near
};
// Whether the path names a number in documents like `specimen`, in which everything is there and every array
// has one element.
std::optional<PathProblem> path_problem(const Json& specimen, std::string_view path);

}  // namespace rocetune
