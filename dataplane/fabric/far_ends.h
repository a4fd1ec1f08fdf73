// The other end of each port of each node. Ports are numbered as links come.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

struct PortPlace {
  NodeId node = 0;
  std::uint16_t port = 0;
  auto operator<=>(const PortPlace&) const = default;
};

// A port's queue in one class, or a host's receiver in it (port 0).
struct ClassPlace {
  PortPlace at;
  std::uint8_t priority = 0;
  auto operator<=>(const ClassPlace&) const = default;
};

class FarEnds {
 public:
  // `topology` must outlive it.
  explicit FarEnds(const Topology& topology)
      : topology_(topology), ends_(topology.hosts + topology.switches), rates_(ends_.size()) {
    for (const LinkSpec& link : topology.links) {
      const auto a = static_cast<std::uint16_t>(ends_[link.a].size());
      const auto b = static_cast<std::uint16_t>(ends_[link.b].size());
      ends_[link.a].push_back({link.b, b});
      ends_[link.b].push_back({link.a, a});
      rates_[link.a].push_back(link.rate);
      rates_[link.b].push_back(link.rate);
    }
  }
  PortPlace of(PortPlace place) const { return ends_[place.node][place.port]; }
  // Of the link there, as long as no event changes it.
  BitRate rate(PortPlace place) const { return rates_[place.node][place.port]; }
  bool is_host(NodeId node) const { return topology_.is_host(node); }
  std::uint32_t switch_index(NodeId node) const { return node - topology_.hosts; }
  std::string name(NodeId node) const { return topology_.name_of(node); }
  // A host has one port, which needs no number.
  std::string name(PortPlace place) const {
    return is_host(place.node) ? name(place.node) : fmt::format("{} port {}", name(place.node), place.port);
  }

 private:
  const Topology& topology_;
  std::vector<std::vector<PortPlace>> ends_;
  std::vector<std::vector<BitRate>> rates_;
};

}  // namespace rocetune::fabric
