// What one must know of a run before any number, in sentences: did it end, was anything lost, what held it
// up, is it right; and whether it shows what its scenario is there to show.
#pragma once

#include <string>
#include <vector>

#include "dataplane/fabric/result.h"
#include "dataplane/html/page.h"

namespace rocetune::report {

struct Statement {
  html::Verdict verdict = html::Verdict::good;
  std::string head;       // what matters
  std::string rest = {};  // how much, where; begins with its punctuation or a blank
};
// Plain text. What is wrong leads, then what is worth a look, then what is good.
std::vector<Statement> verdicts_of(const fabric::RunResult& result);

// "pause.frames: 810": what a point of a lesson was decided by; "not in this run" if there is no such number.
std::string evidence_of(const fabric::LessonPoint& point);

}  // namespace rocetune::report
