#include "agent/diagnose/policy.h"

#include "dataplane/base/toml_reader.h"

namespace rocetune::diagnose {
namespace {

auto a_share() { return between(Ratio(0), Ratio::one()); }

void read_thresholds(TableReader& top, Policy& out) {
  top.required_table("plan", [&](TableReader& t) {
    t.required("data_dscp", out.plan.data_dscp);
    t.required("data_priority", out.plan.data_priority);
    t.required("cnp_dscp", out.plan.cnp_dscp);
    t.required("cnp_priority", out.plan.cnp_priority);
    t.required("common_dscps", out.plan.common_dscps);
    if (out.plan.cnp_priority == out.plan.data_priority)
      t.reject("cnp_priority", "another than data_priority");
  });
  top.required_table("traffic", [&](TableReader& t) {
    t.required("idle_below_packets", out.idle_below_packets, at_least(1));
    t.required("class_share", out.class_share, a_share());
  });
  top.required_table("pause", [&](TableReader& t) {
    t.required("storm_share", out.storm_share, a_share());
    t.required("storm_detection", out.storm_detection, more_than(Duration(0)));
    t.required("notable_share", out.notable_pause_share, between(Ratio(1), out.storm_share));
    t.required("notable_frames_per_s", out.notable_pause_frames_per_s, at_least(1));
  });
  top.required_table("ecn",
                     [&](TableReader& t) { t.required("notable_marks", out.notable_marks, at_least(1)); });
  top.required_table("pcie", [&](TableReader& t) {
    t.required("stall_percent", out.pcie_stall_percent, between(1, 100));
    t.required("notable_corrected_errors", out.notable_corrected_pcie_errors, at_least(1));
    t.required("wanted_read_request", out.wanted_read_request, between(Bytes(128), Bytes(4096)));
  });
  top.required_table("loss", [&](TableReader& t) {
    t.required("notable", out.notable_loss, between(Ratio(1), Ratio::one()));
    t.required("critical", out.critical_loss, between(out.notable_loss, Ratio::one()));
  });
  top.required_table("link", [&](TableReader& t) {
    t.required("worst_post_fec_ber", out.worst_post_fec_ber, between(1e-20, 1e-3));
    t.required("notable_errors", out.notable_frame_errors, between(Ratio(1), Ratio::one()));
    t.required("uneven_lane", out.uneven_lane, a_share());
    t.required("uneven_raw_lane", out.uneven_raw_lane, a_share());
    t.required("far_fec_bin", out.far_fec_bin, between(1, 15));
  });
  top.required_table("texts", [&](TableReader& t) {
    t.required("notable_increase", out.told_increase, at_least(1));
    t.required("notable_total", out.told_total, at_least(1));
    t.required("notable_pause_frames", out.told_pause_frames, at_least(1));
    t.required("notable_pause", out.told_pause, more_than(Duration(0)));
    t.required("slow_rnr_timer", out.slow_rnr_timer, more_than(Duration(0)));
  });
  top.required_table("pfc", [&](TableReader& t) {
    t.required("most_lossless_priorities", out.most_lossless_priorities, between(1, 8));
  });
  top.required_table("ownership", [&](TableReader& t) { t.required("dcb_daemons", out.dcb_daemons); });
  top.required_table("ets", [&](TableReader& t) {
    t.required("minimum_share", out.minimum_ets_share, a_share());
    t.required("maximum_share", out.maximum_ets_share, between(out.minimum_ets_share, Ratio::one()));
  });
  top.required_table("mtu", [&](TableReader& t) {
    t.required("minimum", out.minimum_mtu, between(Bytes(256), Bytes(65535)));
    t.required("recommended", out.recommended_mtu, between(out.minimum_mtu, Bytes(65535)));
    t.required("roce_overhead", out.roce_overhead, between(Bytes(0), Bytes(255)));
  });
}

void read_text_thresholds(TableReader& top, Policy& out) {
  top.required_table("bench", [&](TableReader& t) {
    BenchThresholds& bench = out.bench;
    t.required("slow_share", bench.slow_share, a_share());
    t.required("near_line_share", bench.near_line_share, a_share());
    t.required("large_message", bench.large_message, at_least(Bytes(1)));
    t.required("large_for_mpi", bench.large_for_mpi, at_least(Bytes(1)));
    t.required("average_share", bench.average_share, a_share());
    t.required("like_share", bench.like_share, between(Ratio(1), Ratio::one()));
    t.required("cliff_share", bench.cliff_share, a_share());
    t.required("silent_message", bench.silent_message, at_least(Bytes(1)));
    t.required("gap_share", bench.gap_share, a_share());
    t.required("version_share", bench.version_share, a_share());
  });
  top.required_table("timers", [&](TableReader& t) {
    t.required("longest_usual_timeout", out.longest_usual_timeout, between(1, 31));
    t.required("shortest_usual_timeout", out.shortest_usual_timeout, between(0, out.longest_usual_timeout));
    t.required("rnr_stall", out.rnr_stall, more_than(Duration(0)));
    t.required("rnr_tolerance", out.rnr_tolerance, a_share());
  });
  top.named_tables("variable", [&](const std::string& name, TableReader& t) {
    VariableRange& range = out.variables[name];
    t.required("minimum", range.minimum);
    t.required("maximum", range.maximum, at_least(range.minimum));
    t.required("effect", range.effect, not_empty());
  });
}

void read_nic(TableReader& t, NicTraits& nic) {
  t.required("headroom", nic.headroom);
  t.required("ignores_ecn_of_tos", nic.ignores_ecn_of_tos);
  t.required("is_hardware", nic.is_hardware);
  t.required("origin", nic.origin, not_empty());
}

// The NIC's own row; an issue at [nic.NAME] if there is none.
void find_row(TableReader& t, const std::string& name, const host::NicTable& table, NicTraits& nic) {
  std::vector<std::string> names;
  for (const host::NicRow& row : table.rows()) {
    names.push_back(row.name);
    if (row.name == name) nic.row = row;
  }
  if (nic.row.name.empty()) t.issue({}, name, "the name of a row of nics/", nearest_name(name, names));
}

}  // namespace

const NicTraits* Policy::traits_of(const std::string& nic) const {
  const auto found = nics.find(nic);
  return found == nics.end() ? nullptr : &found->second;
}

Expected<Policy> load_policy(const ConfigFiles& files, const host::NicTable& nics) {
  const auto rules = files.read("rules.toml");
  if (!rules) return tl::unexpected(rules.error());
  return policy_from_toml(rules->text, rules->name, nics);
}

Expected<Policy> policy_from_toml(std::string_view text, const std::string& file,
                                  const host::NicTable& nics) {
  Policy out;
  const auto status = read_toml(text, file, [&](TableReader& top) {
    read_thresholds(top, out);
    read_text_thresholds(top, out);
    top.named_tables("nic", [&](const std::string& name, TableReader& t) {
      NicTraits& nic = out.nics[name];
      read_nic(t, nic);
      find_row(t, name, nics, nic);
    });
  });
  if (!status) return tl::unexpected(status.error());
  return out;
}

}  // namespace rocetune::diagnose
