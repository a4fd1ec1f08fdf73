#include "agent/tune/plan.h"

#include <algorithm>

#include "agent/tune/plan_json.h"
#include "dataplane/base/sha256.h"

namespace rocetune::tune {
namespace {

using host::Host;
using host::Knob;
using host::KnobKind;
using host::Port;

template <class T>
std::string json_of(const T& value) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, value);
  return out.take();
}

void add_port_facts(std::map<std::string, std::string>& facts, const Host& host, const Port& port) {
  const auto put = [&](std::string_view name, std::string value) {
    facts.emplace(fmt::format("{}.{}", port.name, name), std::move(value));
  };
  put("role", json_of(port.role));
  put("driver", port.driver);
  put("nic", port.nic);
  put("firmware", port.firmware.value_or(""));
  put("pci_address", port.pci_address.value_or(""));
  put("bond", port.bond.value_or(""));
  // A link that is down has no speed; what depends on the speed was then planned from nothing.
  put("speed_bps", port.link && port.link->speed ? fmt::format("{}", port.link->speed->count()) : "");
  put("max_mtu_bytes", port.max_mtu ? fmt::format("{}", port.max_mtu->count()) : "");
  for (const Knob& knob : knobs_of(port)) {
    const auto value = host::value_of(host, knob);
    const std::string name =
        knob.kind == KnobKind::cc_param ? "cc_params." + knob.parameter : std::string(enum_name(knob.kind));
    put(name,
        value ? host::to_json_text(*value) : "unavailable: " + std::string(enum_name(value.error().kind)));
  }
}

// A field that is missing keeps its default, which of a stranger's JSON would make a plan that changes
// nothing.
Expected<> expect_plan(const Json& json, const std::string& file) {
  std::string missing;
  for (const std::string_view name : {"schema_version", "host", "facts_sha256", "facts", "steps"}) {
    if (json_member(json, name) == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (missing.empty()) return {};
  return fail(ErrorKind::bad_input, "{}: found JSON without {}, allowed: what rocetune plan -o writes", file,
              missing);
}

}  // namespace

void add_unique(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::vector<std::string> Plan::touched_ports(const Host& target) const {
  std::vector<std::string> touched;
  for (const Step& step : steps) add_unique(touched, step.port);
  for (const host::Bond& bond : target.bonds) {
    if (std::find(touched.begin(), touched.end(), bond.name) == touched.end()) continue;
    for (const std::string& member : bond.members) add_unique(touched, member);
  }
  return touched;
}

std::vector<std::string> Plan::bound_ports(const Host& target) const {
  std::vector<std::string> out = touched_ports(target);
  for (const std::string& port : ports) add_unique(out, port);
  for (const Kept& keep : kept) add_unique(out, keep.knob.port);  // a bond's MTU
  return out;
}

std::vector<Knob> knobs_of(const Port& port) {
  std::vector<Knob> knobs;
  for (const auto& [kind, name] : EnumNames<KnobKind>::names) {
    if (kind != KnobKind::cc_param) {
      knobs.push_back({port.name, kind, ""});
    } else if (port.cc_params) {
      for (const auto& [parameter, value] : *port.cc_params) {
        knobs.push_back({port.name, kind, parameter});
      }
    }
  }
  return knobs;
}

std::map<std::string, std::string> facts_of(const Host& host, const std::vector<std::string>& ports) {
  std::map<std::string, std::string> facts;
  for (const std::string& name : ports) {
    const Port* port = host.find_port(name);
    if (port == nullptr) {
      facts.emplace(name, "no such port");
    } else {
      add_port_facts(facts, host, *port);
    }
  }
  return facts;
}

std::string sha256_of(const std::map<std::string, std::string>& facts) { return sha256_text(json_of(facts)); }

std::vector<std::string> staleness(const Plan& plan, const Host& host) {
  std::vector<std::string> lines;
  if (sha256_of(plan.facts) != plan.facts_sha256) {
    lines.emplace_back("the plan's facts do not belong to its facts_sha256: the file was edited");
  }
  if (plan.host != host.name) {
    lines.push_back(fmt::format("the plan was made for host {}, this is {}", plan.host, host.name));
  }
  const auto now = facts_of(host, plan.bound_ports(host));
  for (const auto& [name, planned] : plan.facts) {
    const auto found = now.find(name);
    if (found == now.end()) {
      lines.push_back(fmt::format("{}: planned on {}, now not there", name, planned));
    } else if (found->second != planned) {
      lines.push_back(fmt::format("{}: planned on {}, now {}", name, planned, found->second));
    }
  }
  for (const auto& [name, value] : now) {
    if (plan.facts.find(name) == plan.facts.end()) {
      lines.push_back(fmt::format("{}: not there when planned, now {}", name, value));
    }
  }
  return lines;
}

std::string to_json_text(const Plan& plan) {
  JsonWriter out;
  rocetune::to_json(out, plan);
  return out.take();
}

Expected<Plan> plan_from_json(std::string_view text, const std::string& file) {
  return parse_json(text, file).and_then([&](const Json& json) {
    const JsonPath path(file);
    return expect_plan(json, file)
        .and_then([&] { return from_json<Plan>(json, path); })
        .and_then([&](Plan plan) { return checked_plan(std::move(plan), path); });
  });
}

}  // namespace rocetune::tune

namespace rocetune {

void JsonForm<tune::Change>::write(JsonWriter& out, const tune::Change& change) {
  out.begin_object();
  out.key("knob");
  to_json(out, change.knob);
  if (change.before) {
    out.key("before");
    to_json(out, *change.before);
  }
  out.key("after");
  to_json(out, change.after);
  out.member("revert", enum_name(change.revert)).member("rule", change.rule).member("why", change.why);
  if (!change.risk.empty()) out.member("risk", change.risk);
  out.end_object();
}

Expected<> JsonForm<tune::Change>::read(const Json& json, const JsonPath& path, tune::Change& out) {
  if (!json.is_object()) return wrong_json(path, json, "an object");
  const Json* after = json_member(json, "after");
  if (json_member(json, "knob") == nullptr || after == nullptr) {
    return fail(ErrorKind::bad_input, "{}: needs \"knob\" and \"after\"", path.text());
  }
  Expected<> status;
  const auto take = [&](std::string_view name, auto& member) {
    const Json* found = json_member(json, name);
    if (!status || found == nullptr) return;
    status = JsonForm<std::remove_cvref_t<decltype(member)>>::read(*found, path.member(name), member);
  };
  take("knob", out.knob);
  take("revert", out.revert);
  take("rule", out.rule);
  take("why", out.why);
  take("risk", out.risk);
  if (!status) return status;
  auto after_value = host::knob_value_from_json(out.knob.kind, *after, path.member("after"));
  if (!after_value) return tl::unexpected(after_value.error());
  out.after = std::move(*after_value);
  if (const Json* before = json_member(json, "before")) {
    auto before_value = host::knob_value_from_json(out.knob.kind, *before, path.member("before"));
    if (!before_value) return tl::unexpected(before_value.error());
    out.before = std::move(*before_value);
  }
  return {};
}

void JsonForm<tune::Kept>::write(JsonWriter& out, const tune::Kept& kept) {
  out.begin_object().key("knob");
  to_json(out, kept.knob);
  out.key("value");
  to_json(out, kept.value);
  out.end_object();
}

Expected<> JsonForm<tune::Kept>::read(const Json& json, const JsonPath& path, tune::Kept& out) {
  const Json* knob = json.is_object() ? json_member(json, "knob") : nullptr;
  const Json* value = json.is_object() ? json_member(json, "value") : nullptr;
  if (knob == nullptr || value == nullptr) {
    return fail(ErrorKind::bad_input, "{}: needs \"knob\" and \"value\"", path.text());
  }
  return JsonForm<host::Knob>::read(*knob, path.member("knob"), out.knob)
      .and_then([&] { return host::knob_value_from_json(out.knob.kind, *value, path.member("value")); })
      .map([&](host::KnobValue read) { out.value = std::move(read); });
}

Expected<tune::Plan> checked_plan(tune::Plan plan, const JsonPath& path) {
  const auto refuse = [&](std::size_t step, std::string_view what) {
    return fail(ErrorKind::bad_input, "{}: {}", path.member("steps").element(step).text(), what);
  };
  if (plan.schema_version != 1) {
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: 1", path.member("schema_version").text(),
                plan.schema_version);
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const tune::Step& step = plan.steps[i];
    if (step.changes.empty()) return refuse(i, "has no changes");
    for (const tune::Change& change : step.changes) {
      if (change.knob.port != step.port) {
        return refuse(i, fmt::format("changes port {} in a step of port {}", change.knob.port, step.port));
      }
      if ((change.knob.kind == host::KnobKind::cc_param) == change.knob.parameter.empty()) {
        return refuse(i, "a cc_param needs a parameter, and nothing else has one");
      }
      if (change.knob.parameter.find('/') != std::string::npos) {
        return refuse(i, fmt::format("{} is not a parameter's name", change.knob.parameter));
      }
      if (!change.before && change.knob.kind != host::KnobKind::cm_default_tos) {
        return refuse(i, "has no value before");
      }
    }
  }
  return plan;
}

}  // namespace rocetune
