// What came of a twin, as plain data: what it stands for, what was fitted from what, what it foretold.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/foresight.h"
#include "agent/tune/search/outcome.h"
#include "agent/tune/twin/twin.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::twin {

// Something that was observed on the hosts, and what the twin shows of it.
struct Observed {
  std::string workload;
  std::string quantity;
  std::string unit;
  double observed = 0;
  double doubt_percent = 0;  // how far the twin may be off
  std::optional<double> before, fitted;
  std::string why_not_fitted;  // empty: it was
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("workload", self.workload...);
    visit("quantity", self.quantity...);
    visit("unit", self.unit...);
    visit("observed", self.observed...);
    visit("doubt_percent", self.doubt_percent...);
    visit("before", self.before...);
    visit("fitted", self.fitted...);
    visit("why_not_fitted", self.why_not_fitted...);
  }
};

struct Parameter {
  std::string name;
  std::string unit;
  double from = 0;  // the file
  double fitted = 0;
  double low = 0, high = 0;  // as well explained
  bool is_told = false;      // the observed tells it
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("unit", self.unit...);
    visit("from", self.from...);
    visit("fitted", self.fitted...);
    visit("low", self.low...);
    visit("high", self.high...);
    visit("is_told", self.is_told...);
  }
};

struct TwinReport {
  std::string failure;  // why it has nothing to say; empty: it has
  std::vector<Observed> observed;
  std::vector<Parameter> parameters;
  std::vector<Note> not_fitted;
  double misfit_before = 0, misfit = 0;
  int fit_runs = 0;
  int search_trials = 0;
  std::string search_reason;  // why the search on the twin said what it said
  int proposed = 0;
};

// How well it foretold; unchecked where nothing was tried.
search::Foresight foresight_of(const search::Outcome& outcome);
// Trials of the budget that the hosts were spared; none: the twin was not followed, or the budget was a time.
std::optional<int> spared_trials(const search::Outcome& outcome);

// Member twin{} of an object: file, fabric, ports[], workloads[], knobs[], not_predicted[], not_taken_over[],
// and after a run fit{}, search{}, predictions[], foresight{}.
void write_twin(JsonWriter& out, const Twin& twin);
void write_twin(JsonWriter& out, const Twin& twin, const TwinReport& report, const search::Outcome& outcome);

}  // namespace rocetune::twin
