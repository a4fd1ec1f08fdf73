#include "agent/evidence/host_tools/class_facts.h"

#include <fmt/core.h>

namespace rocetune::evidence {

void add_class_facts(const host::Dcb& dcb, Document& document) {
  if (dcb.pfc) document.add_fact("qos.pfc_mask", dcb.pfc->enabled.mask());
  if (dcb.app) {
    for (const host::AppEntry& entry : *dcb.app) {
      if (entry.selector != host::AppSelector::dscp) continue;
      document.add_fact(fmt::format("qos.dscp_{}_prio", entry.protocol), entry.priority.value());
    }
  }
  if (!dcb.ets) return;
  for (std::size_t p = 0; p < 8; ++p) {
    const auto tc = static_cast<std::size_t>(dcb.ets->tc_of_priority[p].value());
    if (dcb.ets->tsa[tc] != host::Tsa::ets) continue;
    document.add_fact(fmt::format("ets.prio{}_share_pct", p), dcb.ets->tx_share_percent[tc]);
  }
}

}  // namespace rocetune::evidence
