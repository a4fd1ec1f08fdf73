// What neighbours say by LLDP, and how often they change their mind about DCBX.
#pragma once

#include <map>
#include <optional>

#include "dataplane/tap/facts.h"
#include "dataplane/wire/lldp.h"

namespace rocetune::tap {

class NeighbourWatch {
 public:
  void on_lldp(const wire::MacAddress& source, const wire::Lldp& lldp);
  std::vector<NeighbourFacts> facts() const;
  // The PFC mask that all frames with a PFC TLV gave; none if they differ or there was none.
  std::optional<PrioritySet> agreed_pfc() const { return differs_ ? std::nullopt : pfc_; }

 private:
  struct Neighbour {
    wire::Lldp latest;
    std::int64_t frames = 0;
    std::int64_t changes = 0;
  };
  std::map<wire::MacAddress, Neighbour> neighbours_;
  std::optional<PrioritySet> pfc_;
  bool differs_ = false;
};

}  // namespace rocetune::tap
