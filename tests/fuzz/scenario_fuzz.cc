// Scenarios of any content: a fabric that can be built, or a refusal with a place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/dataplane/fabric/golden_run.h"

// The fuzzers are what another compiler builds: here, too, the golden run is the golden run.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (rocetune::fabric::golden_run().event_log_sha256 != rocetune::fabric::kGoldenSha256) std::abort();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scenario = fabric::scenario_from_toml(text, "input");
  if (!scenario) return 0;
  // What was accepted can be built and run for a moment, unless it is large.
  if (!fabric::check(scenario->topology)) std::abort();
  if (scenario->topology.hosts > 64 || scenario->flows.size() > 64) return 0;
  for (const fabric::Flow& flow : scenario->flows) {
    if (flow.window > 256) return 0;
  }
  std::size_t ranks = 0;
  for (const fabric::Job& job : scenario->jobs) {
    ranks += job.hosts.size();
    if (job.instances() > 64 || job.window > 64) return 0;
  }
  if (ranks > 64) return 0;
  fabric::Network network(scenario->topology, scenario->options, scenario->flows, scenario->jobs);
  network.run(Instant(microseconds(20)));
  return 0;
}
