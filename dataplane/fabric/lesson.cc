#include "dataplane/fabric/lesson.h"

#include "dataplane/fabric/measure.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {

void read_lesson(TableReader& t, Scenario& out) {
  LessonPoint point;
  t.required("says", point.says, not_empty());
  double bound = 0;
  if (t.optional("at_least", bound)) point.at_least = bound;
  if (t.optional("at_most", bound)) point.at_most = bound;
  if (!t.has("at_least") && !t.has("at_most")) t.reject("at_least", "at_least, at_most or both");
  if (!t.required("metric", point.metric)) return;
  if (const auto problem = measure_problem(point.metric))
    return t.reject("metric", problem->allowed, problem->nearest);
  out.lesson.push_back(std::move(point));
}

void look_for(std::vector<LessonPoint>& lesson, const RunResult& result) {
  if (lesson.empty()) return;
  const Json document = document_of(result);
  for (LessonPoint& point : lesson) {
    point.found = number_at(document, point.metric);
    point.is_seen = point.found && *point.found >= point.at_least.value_or(*point.found) &&
                    *point.found <= point.at_most.value_or(*point.found);
  }
}

}  // namespace rocetune::fabric
