// What the fluid model of DCQCN says about a scenario, beside what its packets did.
#pragma once

#include <optional>
#include <string>

#include "dataplane/base/reflect_json.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric {

struct Theory {
  std::string model = "fluid";  // CoNEXT 2016; congestion/dcqcn/fluid_model.h
  std::uint64_t flows = 0;
  std::optional<std::int64_t> queue_bytes;  // of the fixed point
  std::optional<double> marking;            // its probability there
  std::optional<double> phase_margin_degrees;
  std::string says;  // in words
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("model", self.model...);
    visit("flows", self.flows...);
    visit("queue_bytes", self.queue_bytes...);
    visit("marking", self.marking...);
    visit("phase_margin_degrees", self.phase_margin_degrees...);
    visit("says", self.says...);
  }
};

// None where the model has nothing to say: it needs flows of DCQCN from different hosts through one switch to
// one host, all at the same time, and a parameter set that its equations describe.
std::optional<Theory> theory_of(const Scenario& scenario);

}  // namespace rocetune::fabric
