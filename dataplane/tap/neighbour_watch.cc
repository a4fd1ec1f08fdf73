#include "dataplane/tap/neighbour_watch.h"

namespace rocetune::tap {
namespace {

bool same_dcbx(const wire::Lldp& a, const wire::Lldp& b) {
  return a.ets_configuration == b.ets_configuration && a.ets_recommendation == b.ets_recommendation &&
         a.pfc == b.pfc && a.applications == b.applications && a.has_cee_dcbx == b.has_cee_dcbx &&
         a.has_cin_dcbx == b.has_cin_dcbx;
}

std::string application_text(const wire::AppTlvEntry& entry) {
  constexpr std::array<std::string_view, 8> kSelectors{"selector 0", "ethertype", "tcp",        "udp",
                                                       "port",       "dscp",      "selector 6", "selector 7"};
  return entry.selector == 1
             ? fmt::format("ethertype 0x{:04x} -> {}", entry.protocol, entry.priority.value())
             : fmt::format("{} {} -> {}", kSelectors[entry.selector], entry.protocol, entry.priority.value());
}

std::string dcbx_kind(const wire::Lldp& lldp) {
  if (lldp.pfc || lldp.ets_configuration || lldp.ets_recommendation || !lldp.applications.empty())
    return "ieee";
  if (lldp.has_cee_dcbx) return "cee";
  return lldp.has_cin_dcbx ? "cin" : "none";
}

}  // namespace

void NeighbourWatch::on_lldp(const wire::MacAddress& source, const wire::Lldp& lldp) {
  Neighbour& neighbour = neighbours_[source];
  if (neighbour.frames > 0 && !same_dcbx(neighbour.latest, lldp)) ++neighbour.changes;
  ++neighbour.frames;
  neighbour.latest = lldp;
  if (!lldp.pfc) return;
  if (pfc_ && *pfc_ != lldp.pfc->enabled) differs_ = true;
  pfc_ = lldp.pfc->enabled;
}

std::vector<NeighbourFacts> NeighbourWatch::facts() const {
  std::vector<NeighbourFacts> out;
  for (const auto& [mac, neighbour] : neighbours_) {
    const wire::Lldp& lldp = neighbour.latest;
    NeighbourFacts f{.source = to_text(mac),
                     .chassis_id = lldp.chassis_id,
                     .port_id = lldp.port_id,
                     .system_name = lldp.system_name,
                     .frames = neighbour.frames,
                     .dcbx_changes = neighbour.changes,
                     .dcbx = dcbx_kind(lldp)};
    if (lldp.pfc) {
      f.pfc_enabled = lldp.pfc->enabled;
      f.pfc_willing = lldp.pfc->willing;
    }
    if (lldp.ets_configuration) {
      f.ets_willing = lldp.ets_configuration->willing;
      f.tc_of_priority = lldp.ets_configuration->tc_of_priority;
      f.bandwidth_percent_of_tc = lldp.ets_configuration->bandwidth_percent;
    }
    for (const wire::AppTlvEntry& entry : lldp.applications)
      f.applications.push_back(application_text(entry));
    out.push_back(std::move(f));
  }
  return out;
}

}  // namespace rocetune::tap
