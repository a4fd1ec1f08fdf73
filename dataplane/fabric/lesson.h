// What a scenario is there to show, and whether a run shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/reflect_json.h"

namespace rocetune::fabric {

// One [[lesson]]: a sentence, and between what a number of the result lies where it is true.
struct LessonPoint {
  std::string says;
  std::string metric;  // its path (dataplane/base/json_number.h) in the JSON of a result
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::optional<double> found = std::nullopt;  // in the run; none: the result does not say
  bool is_seen = false;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("says", self.says...);
    visit("metric", self.metric...);
    visit("at_least", self.at_least...);
    visit("at_most", self.at_most...);
    visit("found", self.found...);
    visit("is_seen", self.is_seen...);
  }
};

struct RunResult;

// Fills in what was found.
void look_for(std::vector<LessonPoint>& lesson, const RunResult& result);

}  // namespace rocetune::fabric
