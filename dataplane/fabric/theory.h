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

// The model alone, without a packet: `sim --fluid`.
struct FluidReport {
  Theory rest;
  std::optional<double> rate_gbps;       // of a flow at rest
  std::optional<double> target_gbps;     // likewise
  std::optional<double> alpha;           // likewise
  std::optional<double> convergence_us;  // congestion/dcqcn/fluid_convergence.h; none: it takes more than 1 s
  // Flows that start at line rate: from 0.4 to 0.6 s.
  struct Steady {
    std::int64_t queue_mean_bytes = 0;
    std::int64_t queue_deviation_bytes = 0;  // standard
    std::int64_t queue_minimum_bytes = 0;
    std::int64_t queue_maximum_bytes = 0;
    double utilisation = 0;  // of the link
    static constexpr void fields(auto&& visit, auto&... self) {
      visit("queue_mean_bytes", self.queue_mean_bytes...);
      visit("queue_deviation_bytes", self.queue_deviation_bytes...);
      visit("queue_minimum_bytes", self.queue_minimum_bytes...);
      visit("queue_maximum_bytes", self.queue_maximum_bytes...);
      visit("utilisation", self.utilisation...);
    }
  };
  Steady steady;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("rest", self.rest...);
    visit("rate_gbps", self.rate_gbps...);
    visit("target_gbps", self.target_gbps...);
    visit("alpha", self.alpha...);
    visit("convergence_us", self.convergence_us...);
    visit("steady", self.steady...);
  }
};
// Error: bad_input, why the model does not describe the scenario.
Expected<FluidReport> fluid_report(const Scenario& scenario);

}  // namespace rocetune::fabric
