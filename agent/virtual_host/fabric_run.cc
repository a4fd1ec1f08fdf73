#include "agent/virtual_host/fabric_run.h"

#include <algorithm>
#include <charconv>

namespace rocetune::virtual_host {

namespace {

// What the network runs at once: it tells when the last of such windows began.
Duration window_of(const fabric::Topology& topology) {
  Duration shortest = Duration::max();
  for (const fabric::LinkSpec& link : topology.links) shortest = std::min(shortest, link.delay);
  return shortest;
}

}  // namespace

FabricRun::FabricRun(fabric::Scenario scenario)
    : scenario_(std::move(scenario)),
      network_(scenario_.topology, scenario_.options, scenario_.flows, scenario_.jobs),
      limit_(scenario_.limit) {}

void FabricRun::advance_to(Instant when) {
  if (when <= now_) return;
  network_.run(when);
  now_ = when;
}

void FabricRun::finish(const std::stop_token& stop) {
  if (is_over()) return;
  const Instant last_window = network_.run(limit_, stop);
  now_ = network_.is_finished() ? std::min(last_window + window_of(scenario_.topology), limit_) : limit_;
}

Expected<fabric::NodeId> host_named(std::string_view text, const fabric::Topology& topology) {
  fabric::NodeId id = 0;
  const char* const end = text.data() + text.size();
  if (text.size() > 1 && text.front() == 'h') {
    const auto [read_to, error] = std::from_chars(text.data() + 1, end, id);
    if (error == std::errc() && read_to == end && id < topology.end_hosts() && text == name_of(id)) return id;
  }
  return fail(ErrorKind::bad_input, "found {}, allowed: {}", text.empty() ? "nothing" : text,
              topology.end_hosts() == 1 ? "h0" : fmt::format("h0 to h{}", topology.end_hosts() - 1));
}

std::string name_of(fabric::NodeId host) { return fmt::format("h{}", host); }

const fabric::HostParameters& parameters_of(const fabric::Scenario& scenario, fabric::NodeId host) {
  const auto own = scenario.options.own_host.find(host);
  return own == scenario.options.own_host.end() ? scenario.options.host : own->second;
}

}  // namespace rocetune::virtual_host
