#include "agent/diagnose/rule_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/rule.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::diagnose {
namespace {

const char* subject_of(Scope scope) {
  switch (scope) {
    case Scope::host:
      return "the host, over its RoCE ports";
    case Scope::port:
      return "each RoCE port";
    case Scope::traffic:
      return "each RoCE port, over an interval of its counters";
    case Scope::capture:
      return "each capture";
    case Scope::dossier:
      return "the texts that were handed over, together";
  }
  return "";
}

// Where the rule is not checked at all.
std::string limits_of(const Rule& rule) {
  if (rule.scope() != Scope::port && rule.scope() != Scope::traffic) return "nothing";
  std::string out;
  const auto add = [&](const char* text) { out += (out.empty() ? "" : "; ") + std::string(text); };
  if (!rule.gates.infiniband_too) add("InfiniBand links");
  if (!rule.gates.any_function) add("virtual functions and the host side of a DPU");
  if (!rule.gates.any_nic) add("unknown kinds of NIC");
  if (rule.scope() == Scope::traffic) {
    add("ports whose counters were not sampled");
    if (!rule.gates.idle_too) add("idle ports");
  }
  return out.empty() ? "nothing" : out;
}

struct Part {
  const char* name;
  const char* key;  // in JSON
  std::string text;
};
std::vector<Part> parts_of(const Rule& rule) {
  return {{"Judges", "judges", subject_of(rule.scope())},
          {"Must hold", "must_hold", std::string(rule.condition)},
          {"Why", "why", std::string(rule.why)},
          {"Needs", "needs", std::string(rule.needs)},
          {"Decided", "decided", std::string(rule.decided)},
          {"Not checked on", "not_checked_on", limits_of(rule)},
          {"Fix", "fix", std::string(rule.fix)},
          {"Source", "source", std::string(rule.source)}};
}

constexpr const char* kIntroduction =
    "# Rules of `rocetune doctor`\n\n"
    "This file is what `rocetune doctor --explain all` prints; a test keeps the two equal.\n\n"
    "Every rule gives exactly one outcome for every subject it judges: findings, a pass, or *not checked* "
    "with the\n"
    "reason. A finding or a pass needs evidence: a fact that cannot be read, an idle port and an unknown NIC "
    "are not\n"
    "checked, never passed. One cause gives one finding: what follows from it elsewhere is not checked "
    "there, and the\n"
    "reason names the rule that has the cause. Rules stand in the order of causes.\n\n"
    "Severities: *critical*: traffic is lost, stopped or unprotected now. *warning*: costs throughput, or "
    "will hurt\n"
    "under load. *info*: worth knowing; nothing has to be done. The numbers that rules decide by are in\n"
    "`configs/rules.toml`, those of each kind of NIC in `configs/nics/`, each with its origin.\n\n"
    "The RoCE class that a port is judged against is what the operator declares (`--dscp`, `--priority`, "
    "...), or what\n"
    "the port shows: the one data priority with PFC; else of several the one that a mapped DSCP leads to; "
    "without PFC a\n"
    "priority that has a receive buffer or a DSCP of its own. The report says what it was inferred from and "
    "how sure\n"
    "that is, and a finding that rests on it is no surer.\n";

// The rows of an id, or all of them.
Expected<std::vector<const Rule*>> rules_named(const std::string& id) {
  std::vector<const Rule*> out;
  std::vector<std::string> ids;
  for (const Rule* rule : all_rules()) {
    ids.emplace_back(rule->id);
    if (rule->id == id || id == "all") out.push_back(rule);
  }
  if (!out.empty()) return out;
  return tl::unexpected(bad_input({{.place = {},
                                    .key = "--explain",
                                    .found = id,
                                    .allowed = "all, or a rule's id as findings name it",
                                    .nearest = nearest_name(id, ids)}}));
}

}  // namespace

Expected<std::string> explain(const std::string& id) {
  return rules_named(id).map([](const std::vector<const Rule*>& rules) {
    std::string out;
    for (const Rule* rule : rules) {
      out += fmt::format("{}{}  {}\n", out.empty() ? "" : "\n", rule->id, rule->title);
      for (const Part& part : parts_of(*rule)) out += fmt::format("  {:<15} {}\n", part.name, part.text);
    }
    return out;
  });
}

Expected<std::string> explain_json(const std::string& id) {
  return rules_named(id).map([](const std::vector<const Rule*>& rules) {
    JsonWriter out;
    out.begin_object().member("schema_version", 1).key("rules").begin_array();
    for (const Rule* rule : rules) {
      out.begin_object().member("rule", rule->id).member("title", rule->title);
      for (const Part& part : parts_of(*rule)) out.member(part.key, part.text);
      out.end_object();
    }
    out.end_array().end_object();
    return out.take();
  });
}

std::string rules_markdown() {
  std::string out = kIntroduction;
  for (const Rule* rule : all_rules()) {
    out += fmt::format("\n## {}: {}\n\n", rule->id, rule->title);
    for (const Part& part : parts_of(*rule)) out += fmt::format("- **{}**: {}\n", part.name, part.text);
  }
  return out;
}

}  // namespace rocetune::diagnose
