#include "agent/tune/fabric_plant/tune_table.h"

#include <algorithm>

#include "dataplane/base/json_writer.h"
#include "dataplane/base/toml_reader.h"

namespace rocetune::fabric_plant {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Every name is one of `known`, and none is there twice.
void check_names(TableReader& t, std::string_view key, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::ranges::find(known, *name) == known.end()) {
      t.issue(key, "\"" + *name + "\"", listed(known), nearest_name(*name, known));
    } else if (std::find(names.begin(), name, *name) != name) {
      t.issue(key, "\"" + *name + "\" twice", "each once");
    }
  }
}

void read_table(TableReader& t, const std::vector<std::string>& known, TuneTable& out) {
  t.optional("workloads", out.workloads);
  t.optional("held_out", out.held_out);
  check_names(t, "workloads", out.workloads, known);
  check_names(t, "held_out", out.held_out, known);
  if (out.workloads.empty()) {
    for (const std::string& name : known) {
      if (std::ranges::find(out.held_out, name) == out.held_out.end()) out.workloads.push_back(name);
    }
  }
  if (out.workloads.empty()) t.reject("held_out", "fewer than all workloads: one is searched on");
  for (const std::string& name : out.workloads) {
    if (std::ranges::find(out.held_out, name) != out.held_out.end())
      t.issue("held_out", "\"" + name + "\"", "workloads that are not searched on");
  }
  t.optional("workload_weights", out.workload_weights);
  for (const auto& [name, weight] : out.workload_weights) {
    check_names(t, "workload_weights", {name}, known);
    if (!(weight > 0 && weight <= 1000)) t.reject("workload_weights", "weights above 0, up to 1000");
  }
  t.optional("only", out.only, each(not_empty()));
  t.optional("without", out.without, each(not_empty()));
  t.optional("jitter", out.jitter, between(Duration(0), milliseconds(100)));
  t.optional("runs", out.runs, between(1, 100));
  t.table("weight", [&](TableReader& weights) {
    for (const search::ObjectiveKind& kind : search::objective_kinds()) {
      double weight = 0;
      if (weights.optional(kind.name, weight, between(0.0, 1000.0)))
        out.weights[static_cast<std::size_t>(kind.objective)] = weight;
    }
  });
}

}  // namespace

Expected<TuneTable> tune_table_from_toml(std::string_view text, const std::string& file,
                                         const std::vector<TomlSetting>& settings,
                                         const std::vector<std::string>& workloads) {
  TuneTable out;
  auto read = read_toml(text, file, settings, [&](TableReader& top) {
    for (const std::string& key : top.keys()) {
      if (key != "tune") top.ignore(key);
    }
    top.table("tune", [&](TableReader& t) { read_table(t, workloads, out); });
  });
  if (!read) return tl::unexpected(read.error());
  if (out.workloads.empty()) out.workloads = workloads;
  return out;
}

std::vector<std::string> workload_names(const fabric::Scenario& own) {
  std::vector<std::string> out{own.workload};
  for (const std::string& name : own.workloads) {
    if (name != own.workload) out.push_back(name);
  }
  return out;
}

Expected<fabric::Scenario> under_workload(const fabric::Scenario& own, std::string_view text,
                                          const std::string& file, std::vector<TomlSetting> settings,
                                          const std::string& name) {
  if (name == own.workload) return own;
  JsonWriter quoted(JsonWriter::Style::compact);  // its strings are those of TOML
  quoted.value(name);
  settings.push_back({"workload", quoted.take()});
  return fabric::scenario_from_toml(text, file, settings);
}

bool names_knob(std::string_view pattern, std::string_view knob) {
  if (pattern.ends_with('*')) return knob.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == knob;
}

}  // namespace rocetune::fabric_plant
