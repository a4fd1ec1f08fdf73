// The whole: nodes, links and flows, run in virtual time.
#pragma once

#include <memory>

#include "dataplane/fabric/host_node.h"
#include "dataplane/fabric/switch_node.h"
#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

struct NetworkOptions {
  HostParameters host;
  SwitchParameters switches;
  std::uint64_t seed = 1;
};

class Network {
 public:
  // `topology` must have passed check(), and flows lead from one of its hosts to another. Everything is set
  // up; time stands at zero.
  Network(const Topology& topology, const NetworkOptions& options, std::span<const Flow> flows);

  // Runs until every flow is finished, or `until`. Returns the time reached.
  Instant run(Instant until);
  bool is_finished() const { return shared_.finished == flows_; }

  const HostNode& host(NodeId id) const { return *hosts_[id]; }
  HostNode& host(NodeId id) { return *hosts_[id]; }
  SwitchNode& switch_at(std::uint32_t index) { return *switches_[index]; }
  std::size_t hosts() const { return hosts_.size(); }
  std::size_t switches() const { return switches_.size(); }

  struct Totals {
    std::uint64_t events = 0;
    std::uint64_t packet_hops = 0;
    std::uint64_t lossless_drops = 0;
    std::uint64_t unroutable = 0;
    std::uint64_t failures = 0;
    std::uint64_t wrong_bytes = 0;
    std::uint64_t right_bytes = 0;
  };
  Totals totals() const;
  // SHA-256, in hexadecimal, over the digests of all nodes in order: equal if and, but for chance, only if
  // the same happened.
  std::string event_log_sha256() const;

 private:
  const NetworkOptions options_;
  Shared shared_;
  std::size_t flows_;
  Duration window_ = Duration::max();
  std::unique_ptr<Routes> routes_;
  std::vector<std::unique_ptr<Pipe>> pipes_;
  std::vector<std::unique_ptr<HostNode>> hosts_;
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::vector<Node*> nodes_;
};

}  // namespace rocetune::fabric
