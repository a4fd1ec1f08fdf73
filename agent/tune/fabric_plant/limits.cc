#include "agent/tune/fabric_plant/limits.h"

#include <algorithm>

namespace rocetune::fabric_plant {

using fabric::Scenario;

fabric::DerivedHeadroom headroom_model(const Scenario& scenario) {
  std::uint32_t mtu = 0;
  Duration reaction = scenario.options.switches.pause_reaction;
  for (const auto& [id, host] : scenario.options.own_host) {
    mtu = std::max(mtu, engine::bytes_of(host.mtu));
    reaction = std::max(reaction, host.pause_reaction);
  }
  return {.frame = Bytes(mtu) + fabric::kAroundPayload, .reaction = reaction};
}

HeadroomNeed headroom_need(const Scenario& scenario) {
  const fabric::DerivedHeadroom model = headroom_model(scenario);
  HeadroomNeed tightest;
  bool is_first = true;
  for (const fabric::LinkSpec& link : scenario.topology.links) {
    if (scenario.topology.is_reducer(link.a)) continue;
    const bool a_is_host = scenario.topology.is_host(link.a);
    const fabric::NodeId at = a_is_host ? link.b : link.a;
    const fabric::SwitchParameters& parameters =
        scenario.options.own_switch.at(at - scenario.topology.switch_id(0));
    if (parameters.ingress.lossless.is_empty()) continue;
    const Bytes needed = model.of(link.rate, link.delay);
    const Bytes given = parameters.ingress.headroom_at(link.rate, link.delay);
    if (!is_first && given - needed >= tightest.given - tightest.needed) continue;
    is_first = false;
    tightest = {.link = scenario.topology.name_of(at) + " to " +
                        scenario.topology.name_of(a_is_host ? link.a : link.b),
                .needed = needed,
                .given = given};
  }
  return tightest;
}

Bytes shared_pool(const Scenario& scenario) {
  const std::vector<Bytes> taken = fabric::reserved_of_switches(scenario);
  const Bytes most = taken.empty() ? Bytes(0) : *std::ranges::max_element(taken);
  return std::max(scenario.options.switches.ingress.buffer - most, Bytes(0));
}

Bytes lone_xoff(const Scenario& scenario) {
  const IngressPoolProfile& pool = scenario.options.switches.ingress.lossless_pool;
  const std::int64_t shared = shared_pool(scenario).count();
  // alpha = 2^e: e >= 0: 2^e / (1 + 2^e), else 1 / (1 + 2^-e).
  const int e = pool.alpha_exponent;
  const std::int64_t up = e >= 0 ? std::int64_t{1} << e : 1;
  const std::int64_t down = e >= 0 ? 1 : std::int64_t{1} << -e;
  return pool.reserve + Bytes(shared / (up + down) * up);
}

BitRate host_rate(const Scenario& scenario) {
  return std::ranges::max(fabric::host_rates_of(scenario.topology));
}

}  // namespace rocetune::fabric_plant
