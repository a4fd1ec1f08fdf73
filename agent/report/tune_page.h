// What came of a tuning run, as a page: what to change and what it brings first, in words for who decides;
// then everything it rests on, for who has to believe it. Of any plant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/outcome.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/search/policy.h"

namespace rocetune::report {

// One change in the words of the place where it is made.
struct TuneStep {
  std::string knob;
  std::string where;   // "all switches", "gpu3 eth0"
  std::string before;  // with unit
  std::string after;
  search::ChangeCost cost = search::ChangeCost::none;
  std::string how;   // a command, or a parameter
  std::string undo;  // the same with the value before
};

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

// What this plant has, but not to be turned.
struct TuneLeftOut {
  std::string what;
  std::string why;
};

// An objective of a workload that gets worse while the whole gains.
struct TuneWorse {
  std::string workload;
  std::string objective;      // search::ObjectiveKind::name
  double change_percent = 0;  // of the value; of shares in points
};

// What looked best when a run was interrupted: confirmed by nothing.
struct TuneSoFar {
  double gain_percent = 0;
  int trials = 0;
};

struct TunePage {
  std::string command;      // makes it again
  std::string description;  // of the plant; may be empty
  const search::Plant& plant;
  const search::Outcome& outcome;
  const search::Policy& policy;
  std::vector<TuneStep> plan;  // of the best, or of the best so far
  std::optional<TuneSoFar> so_far;
  std::vector<TuneWorse> worsened;
  std::vector<TuneFinding> findings;
  std::vector<std::string> makers;  // "SONiC"
  std::vector<TuneNames> emitted;
  std::vector<TuneLeftOut> left_out;
};

// One self-contained file. What was not measured is not on it, or said to be missing; never 0.
std::string tune_page(const TunePage& page);

}  // namespace rocetune::report
