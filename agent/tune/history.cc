#include "agent/tune/history.h"

#include <algorithm>
#include <ctime>

#include "agent/tune/plan_json.h"
#include "dataplane/base/text_table.h"

namespace rocetune::tune {
namespace {

std::string what_text(const Plan& plan) {
  if (plan.is_empty() && !plan.kept.empty()) {
    return fmt::format("{}: {} setting{} to keep as found", plan.profile, plan.kept.size(),
                       plan.kept.size() == 1 ? "" : "s");
  }
  std::size_t changes = 0;
  std::vector<std::string> ports;
  for (const Step& step : plan.steps) {
    changes += step.changes.size();
    if (std::find(ports.begin(), ports.end(), step.port) == ports.end()) ports.push_back(step.port);
  }
  std::string names;
  for (const std::string& port : ports) names += (names.empty() ? "" : " ") + port;
  return fmt::format("{}: {} change{} on {}", plan.profile, changes, changes == 1 ? "" : "s", names);
}

// The command a person types next, if there is one.
std::string next_command(const Entry& entry) {
  if (entry.phase == Phase::waiting)
    return fmt::format("rocetune confirm {0}, or rocetune rollback {0}", entry.id);
  if (entry.is_open()) return "rocetune recover";
  if (entry.outcome == Outcome::rollback_failed) return fmt::format("rocetune rollback {}", entry.id);
  if (can_be_undone(entry)) {
    return fmt::format("rocetune rollback {}", entry.id);
  }
  return "";
}

std::string change_lines(const Entry& entry, const Change& change) {
  const host::KnobValue* before = entry.before(change);
  std::string out = fmt::format("    {}  [{}] {}\n", host::to_text(change.knob), change.rule, change.why);
  out += fmt::format("      before     {}\n", before ? host::to_text(change.knob, *before) : "not shown");
  out += fmt::format("      after      {}\n", host::to_text(change.knob, change.after));
  const auto read = entry.read_back.find(change.knob);
  if (read != entry.read_back.end()) {
    out += fmt::format("      read back  {}\n", read->second.value
                                                    ? host::to_text(change.knob, *read->second.value)
                                                    : read->second.unavailable);
  }
  return out;
}

}  // namespace

std::string time_text(std::int64_t unix_ns) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm broken{};
  ::gmtime_r(&seconds, &broken);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &broken);
  return text;
}

std::string caller_text(const Caller& caller) {
  std::string out = caller.user.empty() ? "unknown" : caller.user;
  if (!caller.sudo_user.empty() && caller.sudo_user != caller.user) {
    out = fmt::format("{} ({} by sudo)", caller.sudo_user, caller.user);
  }
  if (!caller.ssh_client.empty()) out += " from " + caller.ssh_client;
  if (!caller.terminal.empty()) out += " on " + caller.terminal;
  return out;
}

std::string state_text(const Entry& entry, const Moment& now) {
  switch (entry.phase) {
    case Phase::applying:
      return "INTERRUPTED OR RUNNING: being applied";
    case Phase::rolling_back:
      return "INTERRUPTED OR RUNNING: being rolled back";
    case Phase::waiting: {
      if (entry.waiting_since.boot_id != now.boot_id) return "INTERRUPTED by a reboot while waiting";
      const std::int64_t left = (entry.deadline_boottime_ns - now.boottime_ns) / 1'000'000'000;
      if (left <= 0) return "waits for confirmation, its time is over";
      return fmt::format("WAITS for confirmation, {}min {}s left", left / 60, left % 60);
    }
    case Phase::ended:
      break;
  }
  if (entry.undone_by) return fmt::format("committed, undone by {}", *entry.undone_by);
  switch (*entry.outcome) {
    case Outcome::committed:
      return "committed";
    case Outcome::rolled_back:
      return "rolled back";
    case Outcome::rollback_failed:
      return "ROLLBACK FAILED";
    case Outcome::refused:
      return "refused, nothing written";
  }
  return "";
}

std::string history_text(const Ledger& ledger, const Moment& now, const TextTable::Look& look) {
  std::string out;
  for (const Entry& entry : ledger.entries()) {
    if (entry.is_open() || &entry == ledger.unrepaired()) {
      out += fmt::format("Transaction {}: {}. Next: {}\n", entry.id, state_text(entry, now),
                         next_command(entry));
    }
  }
  if (!out.empty()) out += "\n";
  if (ledger.entries().empty()) return "Nothing was changed on this host yet.\n";
  TextTable table({{.title = "id", .align = Align::right},
                   {.title = "began", .overflow = Overflow::wrap},
                   {.title = "who", .overflow = Overflow::wrap},
                   {.title = "what", .overflow = Overflow::wrap},
                   {.title = "end", .overflow = Overflow::wrap},
                   {.title = "why", .overflow = Overflow::wrap}});
  for (const Entry& entry : ledger.entries()) {
    table.add_row({fmt::format("{}", entry.id), time_text(entry.began.unix_ns),
                   caller_text(entry.begin.caller), what_text(entry.begin.plan), state_text(entry, now),
                   entry.end_reason});
  }
  out += table.text(look);
  const auto& entries = ledger.entries();
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) { return can_be_undone(entry); });
  if (last != entries.rend() && ledger.open() == nullptr && ledger.unrepaired() == nullptr) {
    out += fmt::format("\nTake back the last committed change: rocetune rollback {}\n", last->id);
  }
  return out;
}

std::string entry_text(const Entry& entry, const Ledger& ledger, const Moment& now) {
  std::string out = fmt::format("Transaction {}: {}\n", entry.id, state_text(entry, now));
  const auto line = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:9}{}\n", label, text);
  };
  line("what", what_text(entry.begin.plan));
  line("who", caller_text(entry.begin.caller));
  line("command", entry.begin.caller.command);
  line("began", time_text(entry.began.unix_ns));
  line("last", time_text(entry.last.unix_ns));
  if (entry.ended_by) line("ended by", caller_text(*entry.ended_by) + ", " + entry.ended_by->command);
  line("reason", entry.end_reason.empty() ? entry.rollback_reason : entry.end_reason);
  std::string consents;
  for (const std::string& consent : entry.begin.consents)
    consents += (consents.empty() ? "" : ", ") + consent;
  line("allowed", consents);
  if (entry.begin.plan.is_empty()) {
    for (const Kept& kept : entry.begin.plan.kept) {
      out +=
          fmt::format("  kept     {}: {}\n", host::to_text(kept.knob), host::to_text(kept.knob, kept.value));
    }
  }
  std::size_t number = 0;
  for (const Step& step : entry.begin.plan.steps) {
    const bool touched = entry.intended.contains(number);
    out += fmt::format("  step {} on {}{}\n", ++number, step.port, touched ? "" : " (not reached)");
    for (const Change& change : step.changes) out += change_lines(entry, change);
  }
  for (const std::string& note : entry.notes) out += fmt::format("  note     {}\n", note);
  for (const std::string& what : entry.residue) {
    out += fmt::format("  {}  {}\n", entry.outcome == Outcome::refused ? "refused" : "NOT AS BEFORE", what);
  }
  const std::string next = next_command(entry);
  if (!next.empty())
    out +=
        fmt::format("\n{}: {}\n", entry.is_open() || &entry == ledger.unrepaired() ? "Next" : "Undo", next);
  return out;
}

namespace {

void entry_to_json(JsonWriter& out, const Entry& entry) {
  out.begin_object();
  out.member("id", entry.id).member("phase", enum_name(entry.phase));
  if (entry.outcome) out.member("outcome", enum_name(*entry.outcome));
  out.member("began_unix_ns", entry.began.unix_ns).member("last_unix_ns", entry.last.unix_ns);
  out.member("boot_id", entry.began.boot_id);
  out.key("caller");
  rocetune::to_json(out, entry.begin.caller);
  if (entry.ended_by) {
    out.key("ended_by");
    rocetune::to_json(out, *entry.ended_by);
  }
  if (!entry.end_reason.empty()) out.member("reason", entry.end_reason);
  if (entry.undone_by) out.member("undone_by", *entry.undone_by);
  if (entry.phase == Phase::waiting) out.member("deadline_boottime_ns", entry.deadline_boottime_ns);
  const std::string next = next_command(entry);
  if (!next.empty()) out.member("next_command", next);
  out.key("consents");
  rocetune::to_json(out, entry.begin.consents);
  out.key("notes");
  rocetune::to_json(out, entry.notes);
  out.key("residue");
  rocetune::to_json(out, entry.residue);
  out.key("steps_begun");
  out.value(static_cast<std::int64_t>(entry.intended.size()));
  out.key("plan");
  rocetune::to_json(out, entry.begin.plan);
  out.end_object();
}

}  // namespace

std::string history_json(const Ledger& ledger) {
  JsonWriter out;
  out.begin_object().member("schema_version", 1).key("transactions").begin_array();
  for (const Entry& entry : ledger.entries()) entry_to_json(out, entry);
  out.end_array().end_object();
  return out.take();
}

std::string entry_json(const Entry& entry) {
  JsonWriter out;
  entry_to_json(out, entry);
  return out.take();
}

}  // namespace rocetune::tune
