#include "tools/rocetune/switch_config.h"

#include <fmt/core.h>

#include "dataplane/base/json_writer.h"

namespace rocetune::cli {
namespace {

using evidence::SwitchPlan;
using evidence::SwitchWriter;

// Where the class map comes from, for the notes.
struct Origin {
  tune::Profile profile;
  std::string text;
};

Expected<Origin> origin_of(const SwitchConfigCommand& command, const ClassTables& tables) {
  if (!command.profile.empty()) {
    auto profile = tune::load_profile(command.profile, tables.files, tables.nics);
    if (!profile) return tl::unexpected(profile.error());
    std::string text = "profile " + profile->name;
    return Origin{std::move(*profile), std::move(text)};
  }
  auto found = host_of({command.common.root, command.from, &command.fabric}, tables.nics);
  if (!found) return tl::unexpected(found.error());
  auto profile = profile_of_host(*found, command.nics, tables.policy);
  if (!profile) return tl::unexpected(profile.error());
  return Origin{std::move(*profile), "the class map of host " + (found->name.empty() ? "?" : found->name)};
}

Expected<> check(const SwitchConfigCommand& command, const SwitchPlan& plan) {
  std::vector<InputIssue> issues;
  if (plan.ports.empty() && command.writer != SwitchWriter::nvue) {
    issues.push_back(
        {.place = {},
         .key = "--port",
         .found = "nothing",
         .allowed = "ports of the switch that carry RoCE, as it names them (Ethernet0, Ethernet1/1-16)",
         .nearest = ""});
  }
  if (plan.mark_from && plan.mark_all && *plan.mark_from > *plan.mark_all) {
    issues.push_back({.place = {},
                      .key = "--kmin",
                      .found = to_text(*plan.mark_from),
                      .allowed = "at most --kmax, " + to_text(*plan.mark_all),
                      .nearest = ""});
  }
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  return {};
}

std::vector<std::string> notes_of(const SwitchPlan& plan, const Origin& origin,
                                  evidence::SwitchLines& lines) {
  std::vector<std::string> out{"class map: " + origin.text};
  if (!plan.lossless().is_empty()) {
    out.push_back(
        fmt::format("ECN in the lossless queues from {} to {}, {} % at most: thresholds scale with speed and "
                    "buffer (--kmin, --kmax, --pmax)",
                    to_text(*plan.mark_from), to_text(*plan.mark_all), plan.mark_percent));
  }
  out.insert(out.end(), lines.notes.begin(), lines.notes.end());
  out.emplace_back(
      "nothing here is applied to a switch by rocetune; read it back with rocetune doctor --from");
  return out;
}

}  // namespace

ExitCode run_switch_config(const SwitchConfigCommand& command) {
  const auto tables = load_class_tables(command.config_directory);
  if (!tables) return complain(tables.error());
  const auto origin = origin_of(command, *tables);
  if (!origin) return complain(origin.error());
  const SwitchPlan plan = switch_plan_of(origin->profile, command.choices, command.writer);
  if (const auto checked = check(command, plan); !checked) return complain(checked.error());
  evidence::SwitchLines lines = lines_of(plan, command.writer);
  const std::vector<std::string> notes = notes_of(plan, *origin, lines);
  if (!command.common.json) {
    for (const std::string& note : notes) fmt::print(stderr, "{}\n", note);
    return print_report("switch-config", lines.text);
  }
  JsonWriter out;
  out.begin_object();
  out.key("schema_version");
  out.value(1);
  out.key("system");
  out.value(enum_name(command.writer));
  out.key("text");
  out.value(lines.text);
  out.key("notes");
  out.begin_array();
  for (const std::string& note : notes) out.value(note);
  out.end_array();
  out.end_object();
  return print_report("switch-config", out.take() + "\n");
}

}  // namespace rocetune::cli
