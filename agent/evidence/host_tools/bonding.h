// A bond as /proc/net/bonding/NAME shows it, with what tells whether LACP is up at the other end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/host/model.h"

namespace rocetune::evidence {

struct BondMember {
  std::string name;
  int line = 0;
  bool is_up = false;
  std::optional<std::string> aggregator;
  std::optional<std::string> actor_churn, partner_churn;  // "none", "monitoring", "churned"
  std::optional<int> speed_mbps;
  std::optional<int> link_failures;  // since the bond was made
};

struct BondText {
  host::Bond bond;
  std::optional<int> active_ports;  // "Number of ports" of the active aggregator
  int partner_line = 0;
  std::vector<BondMember> members;
};

Format bonding_format();

}  // namespace rocetune::evidence
