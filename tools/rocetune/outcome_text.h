// What `rocetune tune` says for people, whatever was tuned: the verdict first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/tune/search/outcome.h"
#include "agent/tune/search/plan_step.h"
#include "dataplane/base/text_table.h"

namespace rocetune::cli {

// "while traffic runs", "bounces links".
std::string cost_text(search::ChangeCost cost);

// The verdict on `subject`, the gain of a plan of so many changes, why.
std::string headline(const search::Outcome& outcome, const std::string& subject, std::size_t settings,
                     bool coloured);
// The changes as a table, then how each is made and undone. Empty without any.
std::string plan_text(const std::vector<search::PlanStep>& plan, const TextTable::Look& look);
std::string attribution_text(const search::Outcome& outcome, const search::Plant& plant,
                             const TextTable::Look& look);
// Each workload before and after.
std::string workloads_text(const search::Outcome& outcome, const search::Plant& plant,
                           const TextTable::Look& look);

// What doctor found.
struct Said {
  diagnose::Severity severity = diagnose::Severity::warning;
  std::string rule;
  std::string where;
  std::string cause;
  std::string cure;  // settings; empty: none
};
std::string said_text(const std::vector<Said>& findings, bool coloured);

// How the search ended, what chance does, the command that does it again.
std::string ending_text(const search::Outcome& outcome, const std::string& command);

// --dry-run: knobs, what is forbidden, what is left out, doctor, what is tried first.
std::string space_text(const search::Plant& plant, const std::vector<search::LeftOut>& left_out,
                       const std::vector<Said>& findings, const TextTable::Look& look);

}  // namespace rocetune::cli
