// What apply, rollback and recovery share, and confirmation.
#include "agent/tune/transaction.h"

#include <algorithm>

namespace rocetune::tune {

ExitCode exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::committed:
    case Verdict::waiting:
    case Verdict::nothing_to_do:
    case Verdict::adopted:
      return ExitCode::fine;
    case Verdict::refused:
      return ExitCode::bad_input;
    case Verdict::rolled_back:
      return ExitCode::failed_undone;
    case Verdict::rollback_failed:
      return ExitCode::failed_not_undone;
  }
  return ExitCode::failed_not_undone;
}

Transactions::Transactions(ManagedHost& host, Journal& journal, Timing timing, Limits limits, Say say)
    : host_(host), journal_(journal), timing_(timing), limits_(std::move(limits)), say_(std::move(say)) {
  ROCETUNE_ASSERT(timing_.rollback_rounds >= 1);
}

Expected<Ledger> Transactions::ledger() const { return Ledger::from(journal_.records(), "journal"); }

Expected<Entry> Transactions::entry(std::int64_t id) const {
  return ledger().and_then([&](const Ledger& ledger) -> Expected<Entry> {
    const Entry* found = ledger.find(id);
    if (found == nullptr) return fail(ErrorKind::absent, "there is no transaction {}", id);
    return *found;
  });
}

Record Transactions::record(RecordKind kind, std::int64_t id) {
  Record out;
  out.kind = kind;
  out.transaction = id;
  out.at = host_.now();
  return out;
}

Expected<> Transactions::log(Record record) {
  auto status = journal_.append(std::move(record));
  if (!status && !journal_failed_) journal_failed_ = status.error().text();
  return status;
}

void Transactions::note(std::int64_t id, std::string text) {
  say_(text);
  Record out = record(RecordKind::note, id);
  out.reason = std::move(text);
  (void)log(std::move(out));
}

Expected<Result> Transactions::confirm(std::optional<std::int64_t> id, const Caller& caller) {
  const auto book = ledger();
  if (!book) return tl::unexpected(book.error());
  const Entry* open = book->open();
  if (open == nullptr) return fail(ErrorKind::absent, "no transaction waits for confirmation");
  if (id && *id != open->id) {
    return fail(ErrorKind::conflict, "transaction {} waits, not {}", open->id, *id);
  }
  const Moment now = host_.now();
  const bool in_time = open->phase == Phase::waiting && open->waiting_since.boot_id == now.boot_id &&
                       now.boottime_ns < open->deadline_boottime_ns;
  if (!in_time) return recover(caller);
  Result still_waiting{Verdict::waiting, open->id, "", {}, open->deadline_boottime_ns, {}};
  const auto readings = verify(open->begin.plan, open->begin.plan.steps.size());
  if (!readings) {
    still_waiting.reason = "not confirmed: " + readings.error().text();
    note(open->id, still_waiting.reason);
    return still_waiting;
  }
  const auto host = host_.look(ports_of(open->begin));
  if (!host) return tl::unexpected(host.error());
  for (const auto& status :
       {check_expectations(open->begin.plan, *host), links_as_before(open->begin, *host)}) {
    if (status) continue;
    still_waiting.reason = "not confirmed: " + status.error().text();
    note(open->id, still_waiting.reason);
    return still_waiting;
  }
  return commit(*open, caller);
}

Expected<Result> Transactions::recover(const Caller& caller) {
  const auto book = ledger();
  if (!book) return tl::unexpected(book.error());
  const Entry* open = book->open();
  if (open == nullptr) return Result{};
  const Moment now = host_.now();
  if (now.boot_id != open->began.boot_id) {
    return take_back(*open, "dropped by a reboot before it was confirmed", caller);
  }
  switch (open->phase) {
    case Phase::waiting:
      if (now.boottime_ns < open->deadline_boottime_ns) {
        return Result{Verdict::waiting,           open->id, "waits for confirmation", {},
                      open->deadline_boottime_ns, {}};
      }
      return take_back(*open,
                       fmt::format("not confirmed within {}",
                                   to_text(nanoseconds(open->begin.confirm_within_ns.value_or(0)))),
                       caller);
    case Phase::applying:
      return take_back(*open, "interrupted while it was applied", caller);
    case Phase::rolling_back:
    case Phase::ended:
      break;
  }
  return take_back(*open, "its rollback was interrupted", caller);
}

Expected<Result> Transactions::roll_back(std::optional<std::int64_t> id, const Caller& caller,
                                         const std::string& reason) {
  const auto book = ledger();
  if (!book) return tl::unexpected(book.error());
  const Entry* open = book->open();
  if (open != nullptr) {
    if (id && *id != open->id) {
      return fail(ErrorKind::conflict, "transaction {} is open, not {}", open->id, *id);
    }
    return take_back(*open, reason, caller);
  }
  const Entry* failed = book->unrepaired();
  if (failed == nullptr || (id && *id != failed->id)) {
    return fail(ErrorKind::absent, "no transaction {}is open or left half rolled back",
                id ? fmt::format("{} ", *id) : "");
  }
  for (const Entry& later : book->entries()) {
    if (later.id > failed->id && later.outcome == Outcome::committed) {
      return fail(ErrorKind::conflict, "transaction {} was committed since: roll that back first", later.id);
    }
  }
  return take_back(*failed, reason, caller);
}

}  // namespace rocetune::tune
