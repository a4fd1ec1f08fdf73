// What changes during a run, at equal steps of virtual time. Nobody knows beforehand how long a run will be:
// the steps begin short, and whenever there are twice as many as wanted, every other one is forgotten.
#pragma once

#include "dataplane/fabric/far_ends.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

class SeriesRecorder {
 public:
  // `samples`: wanted at least, unless the run is shorter than so many microseconds.
  SeriesRecorder(Network& network, const FarEnds& far_ends, std::size_t samples);
  // When to take the next one.
  Instant next() const { return Instant(step_ * static_cast<std::int64_t>(samples_.size() + 1)); }
  void take(Instant now);
  TimeSeries result() const;

 private:
  struct Port {
    std::int64_t queued = 0;
    Duration held;  // up to here, the most held priority
  };
  struct Sample {
    std::uint64_t arrived_bytes = 0;
    std::uint64_t ce_marked = 0;
    std::uint64_t cnps_handled = 0;
    std::uint64_t pause_frames = 0;
    std::uint64_t drops = 0;
    std::uint64_t retransmitted = 0;
    Histogram delays_ns;  // of data packets that arrived since the sample before; all else since the start
    std::vector<Port> ports;
    std::vector<std::uint64_t> link_bytes;  // that left
    std::vector<std::uint64_t> flow_bytes;  // that arrived
  };
  struct WatchedFlow {
    NodeId host;
    const HostNode::Sending* sending;
  };
  void choose_flows();
  Sample sample(Instant now);
  std::vector<std::size_t> busiest_ports() const;
  std::vector<std::size_t> busiest_links() const;
  std::vector<std::size_t> flows_to_show() const;
  void add_ports(TimeSeries& out) const;
  void add_links(TimeSeries& out) const;
  void add_flows(TimeSeries& out) const;

  Network& network_;
  const FarEnds& far_ends_;
  std::size_t wanted_;
  Duration step_ = microseconds(1);
  std::vector<PortPlace> places_;  // ports of switches
  std::vector<PortPlace> links_;   // where each direction of each link begins
  std::vector<WatchedFlow> flows_;
  std::size_t all_flows_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace rocetune::fabric
