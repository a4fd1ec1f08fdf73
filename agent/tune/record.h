// What the journal holds: one record for everything that has happened or is about to happen to the host.
// docs/decisions/0004-transaction.md says which record is on disk before what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/knob.h"
#include "agent/tune/plan.h"

namespace rocetune::tune {

// A point in time that can be compared after the wall clock jumped and told from one before a reboot.
struct Moment {
  std::string boot_id;           // /proc/sys/kernel/random/boot_id
  std::int64_t boottime_ns = 0;  // CLOCK_BOOTTIME: counts suspend, never jumps
  std::int64_t unix_ns = 0;      // for people only
  bool operator==(const Moment&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("boot_id", self.boot_id...);
    visit("boottime_ns", self.boottime_ns...);
    visit("unix_ns", self.unix_ns...);
  }
};

// Who asked. Empty: not known.
struct Caller {
  std::string user;        // effective
  std::string sudo_user;   // who became that user
  std::string terminal;    // "pts/3"
  std::string ssh_client;  // address
  std::string command;     // how it was called; "dead-man timer" where nobody typed
  bool operator==(const Caller&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("user", self.user...);
    visit("sudo_user", self.sudo_user...);
    visit("terminal", self.terminal...);
    visit("ssh_client", self.ssh_client...);
    visit("command", self.command...);
  }
};

// One knob as it was read; no value: the host did not show it.
struct Reading {
  host::Knob knob;
  std::optional<host::KnobValue> value;
  std::string unavailable;  // why there is no value
  bool operator==(const Reading&) const = default;
};

// A port as it was before the first write: what a rollback returns to.
struct PortBaseline {
  std::string port;
  std::string pci_address;  // finds the port again under another name; empty: none
  bool carrier = false;
  bool active_in_bond = false;  // in the active aggregate of an 802.3ad bond
  std::vector<Reading> knobs;
  bool operator==(const PortBaseline&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("pci_address", self.pci_address...);
    visit("carrier", self.carrier...);
    visit("active_in_bond", self.active_in_bond...);
    visit("knobs", self.knobs...);
  }
  // The knob's value then; nullptr if it was not shown.
  const host::KnobValue* value_of(const host::Knob& knob) const;
};

enum class Direction { apply, rollback };

enum class Outcome {
  committed,        // the state after is confirmed
  rolled_back,      // the state before is in force
  rollback_failed,  // neither: `residue` says what differs
  refused,          // nothing was written
};

struct Begin {
  Plan plan;
  std::vector<PortBaseline> baseline;
  Caller caller;
  std::vector<std::string> consents;
  std::optional<std::int64_t> confirm_within_ns;  // none: commits by itself after the soak
  std::int64_t soak_ns = 0;
  bool operator==(const Begin&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("plan", self.plan...);
    visit("baseline", self.baseline...);
    visit("caller", self.caller...);
    visit("consents", self.consents...);
    visit("confirm_within_ns", self.confirm_within_ns...);
    visit("soak_ns", self.soak_ns...);
  }
};

std::vector<std::string> ports_of(const Begin& begin);  // of the baseline

enum class RecordKind { begin, step_intent, revealed, step_done, waiting, rollback_begin, note, end };

struct Record {
  RecordKind kind = RecordKind::note;
  std::int64_t transaction = 0;
  Moment at;
  std::optional<Begin> begin;                        // begin
  std::optional<std::int64_t> step;                  // step_*, revealed: index into the plan's steps
  std::optional<Direction> direction;                // step_*
  std::optional<std::vector<Reading>> read_back;     // step_done; revealed: one, the value before
  std::optional<std::int64_t> deadline_boottime_ns;  // waiting
  std::optional<std::string> reason;                 // rollback_begin, note, end
  std::optional<Caller> caller;                      // rollback_begin, end: who, if not who began
  std::optional<Outcome> outcome;                    // end
  std::optional<std::vector<std::string>> residue;   // end: what differs from the state before
  bool operator==(const Record&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("kind", self.kind...);
    visit("transaction", self.transaction...);
    visit("at", self.at...);
    visit("begin", self.begin...);
    visit("step", self.step...);
    visit("direction", self.direction...);
    visit("read_back", self.read_back...);
    visit("deadline_boottime_ns", self.deadline_boottime_ns...);
    visit("reason", self.reason...);
    visit("caller", self.caller...);
    visit("outcome", self.outcome...);
    visit("residue", self.residue...);
  }
};

std::string to_json_text(const Record& record);  // compact, one line
// Error: bad_input with `name` and the path inside; also what a kind must have and has not.
Expected<Record> record_from_json(std::string_view text, const std::string& name);

}  // namespace rocetune::tune

namespace rocetune {
ROCETUNE_ENUM(tune::Direction, P{E::apply, "apply"}, P{E::rollback, "rollback"});
ROCETUNE_ENUM(tune::Outcome, P{E::committed, "committed"}, P{E::rolled_back, "rolled_back"},
              P{E::rollback_failed, "rollback_failed"}, P{E::refused, "refused"});
ROCETUNE_ENUM(tune::RecordKind, P{E::begin, "begin"}, P{E::step_intent, "step_intent"},
              P{E::revealed, "revealed"}, P{E::step_done, "step_done"}, P{E::waiting, "waiting"},
              P{E::rollback_begin, "rollback_begin"}, P{E::note, "note"}, P{E::end, "end"});
}  // namespace rocetune
