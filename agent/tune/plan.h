// A plan is data: what will be changed on a host, in which order, from what to what, how well each change can
// be undone, and the facts it was made from. It can be read by a person, kept in a file, carried to a ticket,
// and is refused when the host no longer shows those facts. docs/decisions/0004-transaction.md has the order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/host/nic_row.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// How well writing `before` again restores the host.
enum class Revert {
  exact,                // as if nothing had happened
  needs_driver_reload,  // the values return, something in the driver stays changed until it is reloaded
  impossible,           // the value before cannot be written
};

struct Change {
  host::Knob knob;
  // Empty for a knob that the host does not show until its configfs directory is made (cm_default_tos); the
  // transaction reads and records the value between making the directory and writing.
  std::optional<host::KnobValue> before;
  host::KnobValue after;
  Revert revert = Revert::exact;
  std::string rule;  // id of the rule that asks for it, "PFC-1"; see docs/rules
  std::string why;   // one sentence
  std::string risk;  // what it can do to running traffic; empty: nothing
  bool operator==(const Change&) const = default;
};

// One kernel write batch on one port. At most one link bounce.
struct Step {
  std::string port;
  bool interrupts_link = false;  // something stops for a moment: the link, the interface or traffic
  std::vector<Change> changes;
  host::WriteEffect effect = host::WriteEffect::none;  // which; none with an interruption: not recorded
  bool operator==(const Step&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("interrupts_link", self.interrupts_link...);
    visit("effect", self.effect...);
    visit("changes", self.changes...);
  }
};

// What is as the profile wants it already and needs no change. Where there is nothing to change and the state
// is to survive a reboot, this is what becomes the confirmed state (Transactions::adopt).
struct Kept {
  host::Knob knob;
  host::KnobValue value;
  bool operator==(const Kept&) const = default;
};

// What must hold on the host when all steps are done, beyond the values that were written: the driver
// arranges buffers by itself when PFC changes, and may leave too little headroom.
struct Expectation {
  std::string port;
  Priority priority;     // lossless
  Bytes minimum_buffer;  // of its receive buffer
  bool operator==(const Expectation&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("priority", self.priority...);
    visit("minimum_buffer_bytes", self.minimum_buffer...);
  }
};

enum class PlanKind {
  change,  // towards a profile
  undo,    // takes back a committed transaction
  boot,    // re-applies the confirmed state
};

struct Plan {
  int schema_version = 1;
  PlanKind kind = PlanKind::change;
  std::string host;     // host name
  std::string profile;  // name of the profile, or what else asked for the change
  std::int64_t made_at_unix_ns = 0;
  std::optional<std::int64_t> undoes;  // transaction, for kind undo
  // What was true of the host and matters for this plan: "eth0.pfc" -> JSON text. See facts_of.
  std::map<std::string, std::string> facts;
  std::string facts_sha256;  // of `facts`; lower-case hex
  std::vector<Step> steps;
  std::vector<Expectation> expectations;
  // Knobs to hide again at the end: what an undone transaction had to make visible.
  std::vector<host::Knob> conceal;
  std::vector<Kept> kept;
  // Ports that were planned for, also those that need no change: what is stale is told by them too.
  std::vector<std::string> ports;
  std::vector<std::string> remarks;  // what the profile wanted and this host cannot have, and why
  bool operator==(const Plan&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("schema_version", self.schema_version...);
    visit("kind", self.kind...);
    visit("host", self.host...);
    visit("profile", self.profile...);
    visit("made_at_unix_ns", self.made_at_unix_ns...);
    visit("undoes", self.undoes...);
    visit("facts_sha256", self.facts_sha256...);
    visit("facts", self.facts...);
    visit("steps", self.steps...);
    visit("expectations", self.expectations...);
    visit("conceal", self.conceal...);
    visit("kept", self.kept...);
    visit("ports", self.ports...);
    visit("remarks", self.remarks...);
  }

  bool is_empty() const { return steps.empty(); }
  // Ports with a step, in the order of the steps; and the members of a bond among them, since what is done to
  // a bond is done to its members.
  std::vector<std::string> touched_ports(const host::Host& target) const;
  // Those and `ports`: whose facts the plan is bound to.
  std::vector<std::string> bound_ports(const host::Host& target) const;
};

// Appends the name unless it is there.
void add_unique(std::vector<std::string>& names, const std::string& name);

// All knobs of `port` that can be written: what a baseline consists of. cc_param knobs as far as they are
// shown.
std::vector<host::Knob> knobs_of(const host::Port& port);

// The facts that a plan for `ports` depends on: every knob, role, driver, firmware, PCI address, speed, bond.
// Not: counters, carrier, addresses, time.
std::map<std::string, std::string> facts_of(const host::Host& host, const std::vector<std::string>& ports);
std::string sha256_of(const std::map<std::string, std::string>& facts);

// Why this plan cannot be applied to this host any more: one line per fact that changed ("eth0.pfc: planned
// on {…}, now {…}"), or that the file's facts do not belong to its hash. Empty: it can.
std::vector<std::string> staleness(const Plan& plan, const host::Host& host);

std::string to_json_text(const Plan& plan);
// Error: bad_input with the path inside; also JSON that is no plan (one of schema_version, host,
// facts_sha256, facts, steps is missing), steps without a change, a change whose port is not its step's,
// values that do not belong to their knob, a newer schema.
Expected<Plan> plan_from_json(std::string_view text, const std::string& file);

}  // namespace rocetune::tune

namespace rocetune {
ROCETUNE_ENUM(tune::Revert, P{E::exact, "exact"}, P{E::needs_driver_reload, "needs_driver_reload"},
              P{E::impossible, "impossible"});
ROCETUNE_ENUM(tune::PlanKind, P{E::change, "change"}, P{E::undo, "undo"}, P{E::boot, "boot"});
}  // namespace rocetune
