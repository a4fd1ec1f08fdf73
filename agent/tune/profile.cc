#include "agent/tune/profile.h"

#include <algorithm>

#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

void read_class(TableReader& t, ClassSpec& out) {
  t.required("name", out.name, not_empty());
  t.optional("dscp", out.dscp);
  t.required("priority", out.priority);
  t.optional("lossless", out.lossless);
  t.required("tc", out.tc);
  t.optional("strict", out.strict);
  t.optional("share_percent", out.share_percent, between(1, 100));
  if (out.strict == (out.share_percent != 0)) {
    t.reject("", "either strict = true or share_percent, one of the two");
  }
}

// What no single class can be wrong about.
void check_classes(TableReader& t, const Profile& profile) {
  PrioritySet seen;
  std::vector<Dscp> marks;
  std::map<int, int> share_of_tc{{profile.default_tc.value(), profile.default_share_percent}};
  for (const ClassSpec& spec : profile.classes) {
    if (seen.contains(spec.priority)) {
      t.issue("class", fmt::format("two classes on priority {}", spec.priority.value()),
              "one class per priority");
    }
    seen = seen.with(spec.priority);
    for (const Dscp mark : spec.dscp) {
      if (std::find(marks.begin(), marks.end(), mark) != marks.end()) {
        t.issue("class", fmt::format("DSCP {} in two classes", mark.value()), "each DSCP once");
      }
      marks.push_back(mark);
    }
    if (!spec.strict && !share_of_tc.emplace(spec.tc.value(), spec.share_percent).second) {
      t.issue("class", fmt::format("traffic class {} has two shares", spec.tc.value()),
              "one share per traffic class");
    }
    if (profile.trust == host::Trust::dscp && spec.dscp.empty()) {
      t.issue("class", fmt::format("class {} without dscp", spec.name),
              "at least one DSCP under trust = \"dscp\"");
    }
    if (profile.trust == host::Trust::pcp && !spec.dscp.empty()) {
      t.issue("class", fmt::format("class {} with dscp", spec.name),
              "no DSCP under trust = \"pcp\": the first entry would switch the port to dscp");
    }
    // A paused CNP cannot slow the sender (MAP-7).
    if (spec.name == "cnp" && spec.lossless)
      t.issue("class", "a lossless cnp class", "lossless = false for cnp");
  }
  int total = 0;
  for (const auto& [tc, share] : share_of_tc) total += share;
  if (total != 100) t.issue("class", fmt::format("shares of {} % in all", total), "shares that total 100 %");
  // More than two lossless priorities starve each other of buffer (MAP-3).
  if (profile.lossless().size() > 2) {
    t.issue("class", fmt::format("{} lossless priorities", profile.lossless().size()), "at most 2");
  }
}

void read_cc(TableReader& t, Profile& out, const host::NicTable& nics) {
  t.optional("repair_out_of_range", out.repair_cc);
  t.other_tables([&](const std::string& nic, TableReader& values) {
    std::vector<std::string> known;
    for (const host::NicRow& row : nics.rows()) known.push_back(row.name);
    if (std::find(known.begin(), known.end(), nic) == known.end()) {
      values.issue("", nic, "a NIC of configs/nics", nearest_name(nic, known));
      return;
    }
    const host::CcTraits& cc = nics.named(nic).cc;
    std::vector<std::string> names;
    for (const host::CcParameter& row : cc.parameters) names.push_back(row.name);
    for (const std::string& key : values.keys()) {
      const host::CcParameter* row = cc.find(key);
      if (row == nullptr) {
        values.ignore(key);
        values.issue(key, key, fmt::format("a congestion-control parameter of {}", nic),
                     nearest_name(key, names));
        continue;
      }
      std::int64_t value = 0;
      if (values.required(key, value, between(row->min, row->max))) out.cc[nic][key] = value;
    }
  });
}

void read_profile(TableReader& t, Profile& out, const host::NicTable& nics) {
  t.required("name", out.name, not_empty());
  t.required("description", out.description, not_empty());
  t.required("trust", out.trust);
  t.required("default_tc", out.default_tc);
  t.required("default_share_percent", out.default_share_percent, between(1, 100));
  t.required_array_of_tables("class", [&](TableReader& row) {
    ClassSpec spec;
    read_class(row, spec);
    out.classes.push_back(std::move(spec));
  });
  t.optional("take_dcbx", out.take_dcbx);
  t.optional("global_pause", out.global_pause);
  t.optional("mtu", out.mtu, between(kSmallestMtu, kLargestMtu));
  t.optional("cable", out.cable, between(kShortestCable, kLongestCable));
  t.optional("buffers", out.buffers);
  t.optional("watchdog", out.watchdog, between(Duration(), seconds(65)));
  t.table("cm_tos", [&](TableReader& tos) {
    Dscp dscp;
    tos.required("dscp", dscp);
    out.cm_tos = TosByte(dscp, Ecn::ect0);
  });
  t.table("cc", [&](TableReader& cc) { read_cc(cc, out, nics); });
  t.optional("notes", out.notes);
  if (!t.is_good()) return;
  check_classes(t, out);
  if (out.global_pause.value_or(false) && !out.lossless().is_empty()) {
    t.reject("global_pause", "false where a class is lossless: a link does one of the two (PFC-1)");
  }
  if (out.watchdog && *out.watchdog % milliseconds(1) != Duration())
    t.reject("watchdog", "whole milliseconds");
}

}  // namespace

PrioritySet Profile::lossless() const {
  PrioritySet set;
  for (const ClassSpec& spec : classes) {
    if (spec.lossless) set = set.with(spec.priority);
  }
  return set;
}

Expected<Profile> profile_from_toml(std::string_view text, const std::string& file,
                                    const host::NicTable& nics) {
  Profile profile;
  profile.file = file;
  return read_toml(text, file, [&](TableReader& t) { read_profile(t, profile, nics); }).map([&] {
    return std::move(profile);
  });
}

Expected<Profile> load_profile(const std::string& name_or_path, const ConfigFiles& files,
                               const host::NicTable& nics) {
  return files.named({.folder = "profiles", .extension = ".toml"}, name_or_path, "--profile")
      .and_then([&](const ConfigFile& file) { return profile_from_toml(file.text, file.name, nics); });
}

}  // namespace rocetune::tune
