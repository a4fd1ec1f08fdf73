// What the journal's records mean: which transactions there were, where each stands, and what state of the
// host was last confirmed. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/tune/record.h"

namespace rocetune::tune {

enum class Phase {
  applying,      // began, neither waiting nor ended
  waiting,       // applied, waits for `confirm`
  rolling_back,  // a rollback has begun and not ended
  ended,
};

struct Entry {
  std::int64_t id = 0;
  Begin begin;
  Moment began, last;  // first and last record
  Phase phase = Phase::applying;
  std::set<std::size_t> intended;                  // steps that may have been written
  std::map<host::Knob, host::KnobValue> revealed;  // values before, of knobs that had to be made visible
  std::map<host::Knob, Reading> read_back;         // after apply, latest
  std::int64_t deadline_boottime_ns = 0;           // while waiting, in the boot of `waiting_since`
  Moment waiting_since;
  std::string rollback_reason;
  std::vector<std::string> notes;
  std::optional<Outcome> outcome;
  std::string end_reason;
  std::optional<Caller> ended_by;
  std::optional<std::int64_t> undone_by;  // the committed transaction that took this one back
  std::vector<std::string> residue;
  std::int64_t rollback_steps_done = 0;

  bool is_open() const { return phase != Phase::ended; }
  // The value that a rollback restores; nullptr if there was none.
  const host::KnobValue* before(const Change& change) const;
};

// Whether `rollback` can take it back by a transaction of its own: committed, not undone, and it changed
// something (a boot only repeats, and what was kept as found was not changed).
bool can_be_undone(const Entry& entry);

class Ledger {
 public:
  // Error: bad_input with the number of the record that cannot follow from those before it.
  static Expected<Ledger> from(const std::vector<Record>& records, const std::string& name);

  // In the order they began.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::int64_t id) const;
  // The transaction that has not ended; there is at most one.
  const Entry* open() const;
  // The last that ended in rollback_failed and was not repaired since.
  const Entry* unrepaired() const;
  std::int64_t next_id() const { return entries_.empty() ? 1 : entries_.back().id + 1; }

 private:
  std::vector<Entry> entries_;
};

// The state a reboot has to end in: all committed transactions in order, undone ones left out. Keyed by what
// finds the port again: its PCI address, or its name where it has none.
struct ConfirmedPort {
  std::string port;
  std::string pci_address;
  std::map<host::Knob, host::KnobValue> values;
  bool operator==(const ConfirmedPort&) const = default;
};
struct ConfirmedState {
  std::vector<ConfirmedPort> ports;
  std::set<std::string> consents;          // given to the transactions that made it
  std::vector<std::int64_t> transactions;  // that made it
  bool is_empty() const { return ports.empty(); }
  bool operator==(const ConfirmedState&) const = default;
};
ConfirmedState confirmed_state(const Ledger& ledger);

}  // namespace rocetune::tune

namespace rocetune {
ROCETUNE_ENUM(tune::Phase, P{E::applying, "applying"}, P{E::waiting, "waiting"},
              P{E::rolling_back, "rolling_back"}, P{E::ended, "ended"});
}  // namespace rocetune
