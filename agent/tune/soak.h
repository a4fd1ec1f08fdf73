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

// One rule on one port.
struct RuleOnPort {
  std::string port, rule;
  std::string why;  // nothing could be judged; empty: it was judged
  bool operator==(const RuleOnPort&) const = default;
};
// What a soak has looked at. A rule is judged if its counter was read in one of the intervals at least.
struct SoakEvidence {
  std::vector<RuleOnPort> judged, not_judged;
  bool is_empty() const { return judged.empty(); }
  void add(const SoakEvidence& other);
};
// For people: a line per port with the rules that were judged and those that were not; before them, if none
// was, one line that says so loudly.
std::vector<std::string> evidence_lines(const SoakEvidence& evidence);

struct SoakJudgement {
  // "eth0 priority 3: pause storm: ..., rx_pause_duration_us 99.8% of the time"
  std::vector<std::string> regressions;
  SoakEvidence evidence;
};
// A counter that is absent during the interval judges nothing; one that was absent before it has nothing to
// excuse what is seen.
SoakJudgement judge_soak(const Observed<counters::Interval>& before, const counters::Interval& during,
                         const std::vector<std::string>& ports, const SoakLimits& limits);

}  // namespace rocetune::tune
