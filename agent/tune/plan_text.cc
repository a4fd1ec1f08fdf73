#include "agent/tune/plan_text.h"

#include <algorithm>

#include "agent/tune/plan_json.h"

namespace rocetune::tune {
namespace {

std::string title_of(const Plan& plan) {
  if (plan.kind == PlanKind::change) return fmt::format("Plan for {}: profile {}\n", plan.host, plan.profile);
  return fmt::format("Plan for {}: {}\n", plan.host, plan.profile);
}

std::string before_text(const Change& change) {
  return change.before
             ? host::to_text(change.knob, *change.before)
             : "not shown yet (its configfs directory is made first; what it then shows is restored)";
}

std::string revert_text(const Change& change) {
  switch (change.revert) {
    case Revert::exact:
      return "exact";
    case Revert::needs_driver_reload:
      return "the values return, the driver's mode only with a driver reload";
    case Revert::impossible:
      return "IMPOSSIBLE";
  }
  return "";
}

std::string change_text(const Change& change, const host::Port* port, bool with_mlnx_qos) {
  std::string out = fmt::format("    {}  [{}] {}\n", host::to_text(change.knob), change.rule, change.why);
  out += fmt::format("      now      {}\n", before_text(change));
  out += fmt::format("      then     {}\n", host::to_text(change.knob, change.after));
  if (!change.risk.empty()) out += fmt::format("      risk     {}\n", change.risk);
  if (change.revert != Revert::exact) out += fmt::format("      undo     {}\n", revert_text(change));
  if (port == nullptr) return out;
  std::string_view label = "by hand";
  for (const std::string& line : commands_of(change, *port, with_mlnx_qos)) {
    out += fmt::format("      {:9}{}\n", label, line);
    label = "";
  }
  return out;
}

bool may_hide_refusals(const Plan& plan, const host::Host& host) {
  for (const Step& step : plan.steps) {
    const host::Port* port = host.find_port(step.port);
    for (const Change& change : step.changes) {
      if (port == nullptr) continue;
      const auto lines = commands_of(change, *port, false);
      if (std::any_of(lines.begin(), lines.end(), host::hides_refusal)) return true;
    }
  }
  return false;
}

std::string_view interruption_label(const Step& step) {
  switch (step.effect) {
    case host::WriteEffect::none:  // a plan of a version that did not record which
      return step.interrupts_link ? "  (interrupts traffic or the link)" : "";
    case host::WriteEffect::stops_traffic:
      return "  (traffic stops for a moment)";
    case host::WriteEffect::closes_interface:
      return "  (the interface goes down and up)";
    case host::WriteEffect::bounces_link:
      return "  (the link bounces)";
  }
  return "";
}

// What will be felt: the ports in order, with what rides on them.
std::string interruption_text(const Plan& plan, const host::Host& host) {
  std::vector<std::string> lines;
  for (const Step& step : plan.steps) {
    if (!step.interrupts_link) continue;
    std::string line = "  " + step.port;
    const host::Port* port = host.find_port(step.port);
    if (port != nullptr && port->link && port->link->speed)
      line += ", " + rocetune::to_text(*port->link->speed);
    if (port != nullptr && port->bond) line += ", member of " + *port->bond;
    std::string kinds;
    for (const Change& change : step.changes) {
      if (change.risk.empty() || kinds.find(change.risk) != std::string::npos) continue;
      kinds += (kinds.empty() ? "" : "; ") + change.risk;
    }
    lines.push_back(fmt::format("{}: {}\n", line, kinds.empty() ? "traffic stops for a moment" : kinds));
  }
  if (lines.empty()) return "Interrupts nothing.\n";
  std::string out = "Interrupts, one port after another, each waiting until its link is back:\n";
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace

std::vector<std::string> commands_of(const Change& change, const host::Port& port, bool with_mlnx_qos) {
  return host::equivalent_commands(port, change.knob, change.before ? *change.before : change.after,
                                   change.after, with_mlnx_qos);
}

std::string plan_json(const Plan& plan, const host::Host& host, const std::vector<Refusal>& refusals,
                      bool with_mlnx_qos) {
  JsonWriter out;
  out.begin_object();
  for_each_field(plan, [&](std::string_view name, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (requires { JsonForm<Member>::is_left_out(member); }) {
      if (JsonForm<Member>::is_left_out(member)) return;
    }
    out.key(name);
    rocetune::to_json(out, member);
  });
  out.key("commands").begin_array();
  std::int64_t number = 0;
  for (const Step& step : plan.steps) {
    ++number;
    const host::Port* const port = host.find_port(step.port);
    for (const Change& change : step.changes) {
      if (port == nullptr) continue;
      out.begin_object().member("step", number).key("knob");
      rocetune::to_json(out, change.knob);
      out.key("lines");
      rocetune::to_json(out, commands_of(change, *port, with_mlnx_qos));
      out.end_object();
    }
  }
  out.end_array().key("refusals");
  rocetune::to_json(out, refusals);
  out.end_object();
  return out.take();
}

std::string plan_text(const Plan& plan, const host::Host& host, const std::vector<Refusal>& refusals,
                      bool with_mlnx_qos, AppliesTo applies_to) {
  std::string out = title_of(plan);
  if (plan.is_empty()) {
    out += "Nothing to change: the host is as wanted.\n";
  } else {
    std::size_t number = 0;
    std::string port;
    for (const Step& step : plan.steps) {
      if (step.port != port) out += fmt::format("\n{}\n", port = step.port);
      out += fmt::format("  step {}{}\n", ++number, interruption_label(step));
      for (const Change& change : step.changes) {
        out += change_text(change, host.find_port(step.port), with_mlnx_qos);
      }
    }
    out += "\n" + interruption_text(plan, host);
    const bool exact = std::all_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
      return std::all_of(step.changes.begin(), step.changes.end(),
                         [](const Change& change) { return change.revert == Revert::exact; });
    });
    if (applies_to == AppliesTo::scenario) {
      out += "Undo: not needed, every command makes the fabric anew.\n";
    } else {
      out += exact ? "Undo: rocetune rollback, exactly.\n"
                   : "Undo: rocetune rollback; not all of it exactly, see undo above.\n";
    }
    if (may_hide_refusals(plan, host)) {
      out +=
          "By hand: read back after each dcb line (dcb pfc show dev ...): it ends with 0 even if refused.\n";
    }
  }
  for (const host::Knob& knob : plan.conceal) {
    out += fmt::format("Hidden again at the end, as it was: {} (rmdir of its configfs directory)\n",
                       host::to_text(knob));
  }
  for (const Expectation& expected : plan.expectations) {
    if (plan.is_empty()) break;
    out += fmt::format("Checked afterwards: {} has {} B or more of buffer for lossless priority {}.\n",
                       expected.port, expected.minimum_buffer.count(), expected.priority.value());
  }
  if (!refusals.empty()) {
    out += "\napply would refuse this:\n";
    for (const Refusal& refusal : refusals) out += fmt::format("  {}\n", to_text(refusal));
  }
  if (!plan.remarks.empty()) {
    out += "\nNotes:\n";
    for (const std::string& remark : plan.remarks) out += fmt::format("  {}\n", remark);
  }
  if (!plan.is_empty()) out += fmt::format("\nBound to the host as observed: sha256 {}\n", plan.facts_sha256);
  return out;
}

}  // namespace rocetune::tune
