// What makes a change a regression: counters of the time after it, judged against fixed limits and against
// the moment before. configs/tune/soak.toml holds the limits with their origin.
#pragma once

#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "dataplane/base/observed.h"

namespace rocetune::tune {

struct SoakRule {
  std::string name;
  std::string counter;                 // our name, configs/counters
  bool per_priority = false;           // judged for each priority that shows it
  std::optional<Ratio> share_of_time;  // duration counters: at least this share of the interval
  std::optional<double> per_second;    // other counters: more than this, and
  double times_before = 1;             // more than this many times the rate before the change
  std::string meaning;                 // for people: "pause storm: this port was held"
};
struct SoakLimits {
  std::vector<SoakRule> rules;
};

// Error: bad_input with all issues.
Expected<SoakLimits> soak_limits_from_toml(std::string_view text, const std::string& file);

// One line per regression: "eth0 priority 3: pause storm: ..., rx_pause_duration_us 99.8% of the time". A
// counter that is absent, before or during, judges nothing.
std::vector<std::string> regressions(const Observed<counters::Interval>& before,
                                     const counters::Interval& during, const std::vector<std::string>& ports,
                                     const SoakLimits& limits);

}  // namespace rocetune::tune
