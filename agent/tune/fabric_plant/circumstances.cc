#include "agent/tune/fabric_plant/circumstances.h"

#include "dataplane/base/random.h"

namespace rocetune::fabric_plant {
namespace {

constexpr std::uint64_t kJitterStream = 0x7475'6E65;  // apart from those of nodes and traffic

}  // namespace

fabric::Scenario under_circumstances(fabric::Scenario scenario, std::uint64_t seed, Duration jitter) {
  fabric::reseed(scenario, seed);
  Random random(seed, kJitterStream);
  const auto span = static_cast<std::uint64_t>(jitter.count());
  for (fabric::Flow& flow : scenario.flows)
    flow.start = flow.start + Duration(static_cast<std::int64_t>(random.below(span + 1)));
  return scenario;
}

}  // namespace rocetune::fabric_plant
