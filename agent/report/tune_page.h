// What came of a tuning run, as a page: what to change and what it brings first, in words for who decides;
// then everything it rests on, for who has to believe it. Of any plant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/report/tune_twin.h"
#include "agent/tune/search/outcome.h"
#include "agent/tune/search/plan_step.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"
#include "agent/tune/search/remarks.h"

namespace rocetune::report {

// Something that is wrong, and what is known of its cure.
struct TuneFinding {
  std::string severity;  // "critical"
  std::string rule;
  std::string where;
  std::string cause;
  std::string cure;          // settings, or words
  bool is_hardware = false;  // no setting cures it: shown at the top, with `cure` as the advice
};

// One change by the names that several makers have for it.
struct TuneNames {
  std::string where;
  std::string knob;
  std::string value;
  std::vector<std::string> names;  // as many as TunePage::makers
};

// What can be pasted into the switches of one system.
struct TuneLines {
  std::string system;  // "SONiC"
  std::string where;   // empty: there are no lines
  std::string text;
  std::vector<std::string> notes;   // how to load it
  std::vector<std::string> unsaid;  // what of the plan is not in the lines
};

struct TunePage {
  std::string command;      // makes it again
  std::string description;  // of the plant; may be empty
  const search::Plant& plant;
  const search::Outcome& outcome;
  const search::Policy& policy;
  std::vector<search::PlanStep> plan;  // of the best, or of the best so far
  std::optional<search::BestSoFar> so_far;
  std::vector<search::Worsened> worsened;
  std::vector<TuneFinding> findings;
  std::vector<std::string> makers;  // "SONiC"
  std::vector<TuneNames> emitted;
  std::vector<TuneLines> switch_lines;
  std::vector<search::LeftOut> left_out;
  std::optional<TuneTwin> twin = std::nullopt;
  std::string trial = {};              // how often a trial runs the workloads, a sentence; empty: once
  std::vector<std::string> undo = {};  // commands, if the change is in force; empty: nothing is
};

// One self-contained file. What was not measured is not on it, or said to be missing; never 0.
std::string tune_page(const TunePage& page);

}  // namespace rocetune::report
