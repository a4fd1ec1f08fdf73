#include "agent/tune/ledger.h"

#include <algorithm>

namespace rocetune::tune {
namespace {

// Folds one record into the entry it belongs to. Returns what makes it impossible; empty: nothing.
class Fold {
 public:
  explicit Fold(std::vector<Entry>& entries) : entries_(entries) {}

  std::string take(const Record& record) {
    if (record.kind == RecordKind::begin) return begin(record);
    if (entries_.empty()) return "belongs to no transaction";
    // A failed rollback may be tried again later, also when other transactions came in between.
    const auto found = std::find_if(entries_.rbegin(), entries_.rend(),
                                    [&](const Entry& entry) { return entry.id == record.transaction; });
    if (found == entries_.rend()) return fmt::format("transaction {} never began", record.transaction);
    Entry& entry = *found;
    entry.last = record.at;
    if (!entry.is_open() && record.kind != RecordKind::note &&
        !(record.kind == RecordKind::rollback_begin && entry.outcome == Outcome::rollback_failed)) {
      return fmt::format("transaction {} has ended", record.transaction);
    }
    return inside(entry, record);
  }

 private:
  std::string begin(const Record& record) {
    if (!entries_.empty() && record.transaction <= entries_.back().id) return "its number is not the next";
    if (std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.is_open(); })) {
      return "the transaction before has not ended";
    }
    Entry entry;
    entry.id = record.transaction;
    entry.begin = *record.begin;
    entry.began = entry.last = record.at;
    entries_.push_back(std::move(entry));
    return "";
  }

  std::string inside(Entry& entry, const Record& record) {
    if (record.step &&
        (*record.step < 0 || static_cast<std::size_t>(*record.step) > entry.begin.plan.steps.size())) {
      return fmt::format("the plan has no step {}", *record.step);
    }
    switch (record.kind) {
      case RecordKind::begin:
        break;
      case RecordKind::step_intent:
        if (*record.direction == Direction::apply)
          entry.intended.insert(static_cast<std::size_t>(*record.step));
        break;
      case RecordKind::revealed:
        entry.revealed.emplace(record.read_back->front().knob, *record.read_back->front().value);
        break;
      case RecordKind::step_done:
        if (*record.direction == Direction::rollback) ++entry.rollback_steps_done;
        for (const Reading& reading : *record.read_back)
          entry.read_back.insert_or_assign(reading.knob, reading);
        break;
      case RecordKind::waiting:
        entry.phase = Phase::waiting;
        entry.deadline_boottime_ns = *record.deadline_boottime_ns;
        entry.waiting_since = record.at;
        break;
      case RecordKind::rollback_begin:
        entry.phase = Phase::rolling_back;
        entry.outcome.reset();
        if (entry.rollback_reason.empty()) entry.rollback_reason = *record.reason;
        break;
      case RecordKind::note:
        entry.notes.push_back(*record.reason);
        break;
      case RecordKind::end:
        return end(entry, record);
    }
    return "";
  }

  std::string end(Entry& entry, const Record& record) {
    entry.phase = Phase::ended;
    entry.outcome = record.outcome;
    entry.end_reason = record.reason.value_or("");
    entry.ended_by = record.caller;
    entry.residue = record.residue.value_or(std::vector<std::string>());
    if (record.outcome == Outcome::committed && entry.begin.plan.undoes) {
      const auto undone = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& candidate) {
        return candidate.id == *entry.begin.plan.undoes;
      });
      if (undone == entries_.end())
        return fmt::format("undoes {}, which never began", *entry.begin.plan.undoes);
      undone->undone_by = entry.id;
      // Taking back an undo puts the transaction that it had taken back in force again.
      for (Entry& candidate : entries_) {
        if (candidate.undone_by == undone->id) candidate.undone_by.reset();
      }
    }
    return "";
  }

  std::vector<Entry>& entries_;
};

}  // namespace

bool can_be_undone(const Entry& entry) {
  return entry.outcome == Outcome::committed && !entry.undone_by && !entry.begin.plan.is_empty() &&
         entry.begin.plan.kind != PlanKind::boot;
}

const host::KnobValue* Entry::before(const Change& change) const {
  if (change.before) return &*change.before;
  const auto found = revealed.find(change.knob);
  return found == revealed.end() ? nullptr : &found->second;
}

Expected<Ledger> Ledger::from(const std::vector<Record>& records, const std::string& name) {
  Ledger ledger;
  Fold fold(ledger.entries_);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (const std::string why = fold.take(records[i]); !why.empty()) {
      return fail(ErrorKind::bad_input, "{}:{}: a record of kind {} that {}", name, i + 2,
                  enum_name(records[i].kind), why);
    }
  }
  return ledger;
}

const Entry* Ledger::find(std::int64_t id) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

const Entry* Ledger::open() const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.is_open(); });
  return found == entries_.end() ? nullptr : &*found;
}

const Entry* Ledger::unrepaired() const {
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [](const Entry& entry) {
    return entry.outcome == Outcome::rollback_failed;
  });
  return found == entries_.rend() ? nullptr : &*found;
}

namespace {

ConfirmedPort& port_of(ConfirmedState& state, const Entry& entry, const std::string& name) {
  const auto baseline = std::find_if(entry.begin.baseline.begin(), entry.begin.baseline.end(),
                                     [&](const PortBaseline& b) { return b.port == name; });
  const std::string pci = baseline == entry.begin.baseline.end() ? "" : baseline->pci_address;
  const auto found = std::find_if(state.ports.begin(), state.ports.end(), [&](const ConfirmedPort& p) {
    return pci.empty() ? p.port == name : p.pci_address == pci;
  });
  if (found != state.ports.end()) return *found;
  state.ports.push_back({name, pci, {}});
  return state.ports.back();
}

bool keeps(const Plan& plan, const host::Knob& knob) {
  return plan.is_empty() &&
         std::any_of(plan.kept.begin(), plan.kept.end(), [&](const Kept& kept) { return kept.knob == knob; });
}

// Whether a transaction before `id` set the knob for good, or took it as it was for good.
bool set_before(const Ledger& ledger, std::int64_t id, const host::Knob& knob) {
  for (const Entry& entry : ledger.entries()) {
    if (entry.id >= id) break;
    if (entry.outcome != Outcome::committed || entry.begin.plan.kind != PlanKind::change) continue;
    if (keeps(entry.begin.plan, knob)) return true;
    for (const Step& step : entry.begin.plan.steps) {
      for (const Change& change : step.changes) {
        if (change.knob == knob) return true;
      }
    }
  }
  return false;
}

}  // namespace

ConfirmedState confirmed_state(const Ledger& ledger) {
  ConfirmedState state;
  for (const Entry& entry : ledger.entries()) {
    // A boot only repeats what is here already.
    if (entry.outcome != Outcome::committed || entry.begin.plan.kind == PlanKind::boot) continue;
    state.transactions.push_back(entry.id);
    state.consents.insert(entry.begin.consents.begin(), entry.begin.consents.end());
    if (entry.begin.plan.is_empty()) {
      for (const Kept& kept : entry.begin.plan.kept) {
        port_of(state, entry, kept.knob.port).values.insert_or_assign(kept.knob, kept.value);
      }
    }
    for (const Step& step : entry.begin.plan.steps) {
      ConfirmedPort& port = port_of(state, entry, step.port);
      for (const Change& change : step.changes) {
        // Taking back what was the first change of a knob leaves the knob to whoever set it before us.
        if (entry.begin.plan.undoes && !set_before(ledger, *entry.begin.plan.undoes, change.knob)) {
          port.values.erase(change.knob);
        } else {
          port.values.insert_or_assign(change.knob, change.after);
        }
      }
    }
  }
  std::erase_if(state.ports, [](const ConfirmedPort& port) { return port.values.empty(); });
  return state;
}

}  // namespace rocetune::tune
