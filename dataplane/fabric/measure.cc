#include "dataplane/fabric/measure.h"

namespace rocetune::fabric {
namespace {

// Everything is there, and of what there may be several there is one.
template <class T>
void fill(T&) {}
template <class T>
void fill(std::optional<T>& out);
template <class T>
void fill(std::vector<T>& out);
template <Reflected T>
void fill(T& out) {
  for_each_field(out, [](std::string_view, auto& member) { fill(member); });
}
template <class T>
void fill(std::optional<T>& out) {
  fill(out.emplace());
}
template <class T>
void fill(std::vector<T>& out) {
  fill(out.emplace_back());
}

RunResult specimen() {
  RunResult out;
  fill(out.flows);
  fill(out.jobs);
  fill(out.ports);
  fill(out.pause_tree);
  fill(out.deadlock);
  fill(out.series);
  fill(out.theory);
  fill(out.checkers);
  fill(out.lesson);
  return out;
}

}  // namespace

Json document_of(const RunResult& result) {
  const auto out = parse_json(json_of(result, {}), "result");
  ROCETUNE_ASSERT(out.has_value());  // it is our own
  return *out;
}

std::optional<PathProblem> measure_problem(std::string_view path) {
  return path_problem(document_of(specimen()), path);
}

}  // namespace rocetune::fabric
