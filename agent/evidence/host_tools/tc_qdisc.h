// Queueing disciplines with their counts as `tc -s qdisc` prints them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct Qdisc {
  std::string kind, device;
  bool is_root = false;
  int line = 0;
  std::optional<std::uint64_t> sent_packets, dropped;
  std::optional<std::uint64_t> marked;  // of red, choke, sfb, codel: packets that got CE
};

struct TcQdisc {
  std::vector<Qdisc> qdiscs;
};

Format tc_qdisc_format();

}  // namespace rocetune::evidence
