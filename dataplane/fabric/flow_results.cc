#include "dataplane/fabric/flow_results.h"

#include <algorithm>

#include "dataplane/base/statistics.h"
#include "dataplane/fabric/job_result.h"

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostSlowest = 16;

double microseconds_since_start(Instant t) { return (t - Instant()).seconds() * 1e6; }

// Those that never ended lead, then those that took longest; among equals the first stays first.
bool is_slower(const FlowResult& a, const FlowResult& b) {
  if (a.fct_us.has_value() != b.fct_us.has_value()) return !a.fct_us;
  return a.fct_us ? *a.fct_us > *b.fct_us : a.goodput_gbps < b.goodput_gbps;
}

}  // namespace

std::string name_of(const Flow& flow) { return fmt::format("host {} to host {}", flow.from, flow.to); }

FlowsResult flow_results(const Network& network, Instant end) {
  FlowsResult out;
  std::vector<double> fct_us;
  std::vector<double> rates;
  for (NodeId id = 0; id < network.hosts(); ++id) {
    out.retransmitted_frames += network.host(id).statistics().retransmitted_frames;
    for (const HostNode::Sending& sending : network.host(id).sendings()) {
      ++out.count;
      out.bytes += sending.outcome.completed_bytes;
      const bool is_finished = sending.outcome.finished != Instant::never();
      const double span = ((is_finished ? sending.outcome.finished : end) - sending.flow.start).seconds();
      FlowResult flow{.name = name_of(sending.flow),
                      .bytes = sending.flow.bytes,
                      .start_us = microseconds_since_start(sending.flow.start)};
      const std::uint64_t bytes =
          is_finished ? sending.flow.bytes
                      : network.host(id).arrived_bytes(sending, network.host(sending.flow.to));
      if (span > 0) {
        rates.push_back(static_cast<double>(bytes) / span);
        flow.goodput_gbps = rates.back() * 8 / 1e9;
      }
      if (is_finished) {
        ++out.finished;
        flow.fct_us = span * 1e6;
        fct_us.push_back(span * 1e6);
      }
      if (span < 0) continue;  // it would have begun after the end
      const auto place = std::ranges::upper_bound(out.slowest, flow, is_slower);
      if (place == out.slowest.end() && out.slowest.size() >= kMostSlowest) continue;
      out.slowest.insert(place, std::move(flow));
      if (out.slowest.size() > kMostSlowest) out.slowest.pop_back();
    }
  }
  const double span = (end - Instant()).seconds();
  if (span > 0) out.goodput_gbps = static_cast<double>(out.bytes) * 8 / span / 1e9;
  if (!rates.empty()) out.fairness = jain_fairness(rates);
  out.fct_us = summary_of(std::move(fct_us));
  return out;
}

}  // namespace rocetune::fabric
