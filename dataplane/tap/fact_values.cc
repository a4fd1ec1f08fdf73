#include "dataplane/tap/facts.h"

namespace rocetune::tap {

std::int64_t count_of(const std::map<std::string, std::int64_t>& counts, const char* kind) {
  const auto found = counts.find(kind);
  return found == counts.end() ? 0 : found->second;
}

std::vector<FactValue> fact_values(const TapFacts& f) {
  std::vector<FactValue> out;
  const auto integer = [&out](std::string name, std::int64_t v) {
    out.push_back({.name = std::move(name), .is_integer = true, .integer = v});
  };
  const auto real = [&out](std::string name, double v) {
    out.push_back({.name = std::move(name), .is_integer = false, .real = v});
  };
  integer("capture.frames", f.frames);
  integer("capture.truncated", f.truncated ? 1 : 0);
  integer("capture.roce_packets", f.roce_packets);
  integer("capture.rocev1_packets", f.rocev1_packets);
  integer("capture.ack_packets", f.ack_packets);
  integer("capture.nak_sequence", count_of(f.nak_packets, "sequence"));
  integer("capture.rnr_nak", count_of(f.nak_packets, "rnr"));
  integer("capture.ce_packets", f.ce_packets);
  integer("capture.cnp_packets", f.cnp_packets);
  integer("capture.retransmitted_packets", f.retransmitted_packets);
  integer("capture.data_flows", f.data_flows);
  if (!f.dscps.empty()) integer("capture.dscp", f.dscps.front().dscp.value());
  integer("capture.icrc_ok", f.icrc_ok);
  integer("capture.icrc_bad", f.icrc_bad);
  integer("capture.icrc_unknown", f.icrc_unknown);
  integer("capture.pfc_frames", f.pfc_frames);
  integer("capture.pfc_xoff_frames", f.pfc_xoff_frames);
  integer("capture.pfc_xon_frames", f.pfc_xon_frames);
  integer("capture.global_pause_frames", f.global_pause_frames);
  for (const PauseFacts& pause : f.pauses) {
    if (!pause.priority) continue;
    const std::string prefix = fmt::format("capture.prio{}_", pause.priority->value());
    if (f.duration_s > 0) real(prefix + "pause_ratio", pause.ratio);
    real(prefix + "longest_pause_us", pause.longest_us);
  }
  integer("lldp.frames", f.lldp_frames);
  if (f.lldp_pfc_enabled) integer("lldp.pfc_mask", f.lldp_pfc_enabled->mask());
  return out;
}

}  // namespace rocetune::tap
