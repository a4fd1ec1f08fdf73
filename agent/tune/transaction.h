// The only writer of a host. Applies a plan step by step with the journal ahead of every write, reads back
// everything, soaks, then waits for confirmation or commits; takes back what went wrong; finishes what an
// earlier process left unfinished. The caller holds the host's lock. docs/decisions/0004-transaction.md.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/tune/guardrails.h"
#include "agent/tune/journal.h"
#include "agent/tune/ledger.h"
#include "agent/tune/managed_host.h"
#include "agent/tune/soak.h"

namespace rocetune::tune {

struct Timing {
  Duration link_timeout = seconds(30);  // 400G links with RS-FEC and training take 5..20 s to return
  Duration settle = seconds(2);         // a link that is up must stay up this long before it counts
  Duration poll = milliseconds(200);
  Duration traffic_sample = seconds(2);  // before the first write: is RDMA traffic running?
  Duration soak_slice = seconds(5);      // regressions are looked for this often during the soak
  int rollback_rounds = 3;               // at least 1; a driver may answer EBUSY for a while
  Duration round_pause = seconds(1);
};

enum class Verdict { committed, waiting, rolled_back, rollback_failed, refused, nothing_to_do, adopted };
ExitCode exit_code(Verdict verdict);

struct Result {
  Verdict verdict = Verdict::nothing_to_do;
  std::int64_t id = 0;
  std::string reason;                     // one sentence
  std::vector<std::string> details;       // refusals, differences, regressions
  std::int64_t deadline_boottime_ns = 0;  // waiting
  std::optional<std::string>
      journal_failed;  // the host is as the verdict says, the journal could not be told
  std::optional<SoakEvidence> soak =
      {};  // what was watched; none: no soak was asked for, or none was reached
};

struct ApplyRequest {
  Caller caller;
  std::set<std::string> consents;
  std::optional<Duration> confirm_within;  // none: commits by itself after the soak
  Duration soak = seconds(30);             // longer than a switch's DCBX period (5 s) and firmware's reaction
};

class Transactions {
 public:
  using Say = std::function<void(const std::string&)>;
  // Starts the process that rolls back when this one dies or nobody confirms.
  using Arm = std::function<Expected<>(std::int64_t id)>;

  Transactions(ManagedHost& host, Journal& journal, Timing timing, Limits limits, Say say);

  // Errors: conflict if a transaction is open, io or denied if the journal cannot be written or has no space:
  // nothing was changed. Everything else is a verdict.
  Expected<Result> apply(const Plan& plan, const ApplyRequest& request, const Arm& arm);

  // Of a plan that changes nothing: what it found as wanted becomes part of the confirmed state, so that a
  // boot brings it back. Writes nothing but the journal. Verdicts: adopted; nothing_to_do if all of it is
  // confirmed already; refused if the plan is stale, a rollback has failed, or a guardrail would refuse it at
  // boot. Errors: as apply.
  Expected<Result> adopt(const Plan& plan, const ApplyRequest& request);

  // Confirms the waiting transaction (`id` if given). The host has to show every value of the plan; if it
  // does not, the verdict stays waiting and says what differs. After the deadline it is rolled back instead.
  // Errors: absent if nothing waits, conflict if another transaction does.
  Expected<Result> confirm(std::optional<std::int64_t> id, const Caller& caller);

  // Takes back the open transaction, or tries again one whose rollback failed. Errors: absent, conflict.
  Expected<Result> roll_back(std::optional<std::int64_t> id, const Caller& caller, const std::string& reason);

  // Finishes what a dead process, a passed deadline or a reboot left open. nothing_to_do if all have ended,
  // waiting if one waits and its deadline is ahead.
  Expected<Result> recover(const Caller& caller);

 private:
  Expected<Ledger> ledger() const;
  Expected<Entry> entry(std::int64_t id) const;
  Record record(RecordKind kind, std::int64_t id);
  // Appends; a failure is remembered in journal_failed_ and returned.
  Expected<> log(Record record);
  void note(std::int64_t id, std::string text);

  // apply.cc
  std::vector<std::string> objections(const Plan& plan, const ApplyRequest& request, const host::Host& host,
                                      const Observed<counters::Interval>& traffic) const;
  Expected<Result> refuse(std::int64_t id, Begin begin, std::vector<std::string> objections);
  Expected<> run_steps(std::int64_t id, const Begin& begin);
  Expected<> run_step(std::int64_t id, const Begin& begin, std::size_t index);
  Expected<> reveal_hidden(std::int64_t id, std::size_t index, const Change& change);
  Expected<> soak(const Begin& begin, const Observed<counters::Interval>& before, SoakEvidence& evidence);
  // Every change of the first `count` steps is in force. Checking nothing is an error.
  Expected<std::vector<Reading>> verify(const Plan& plan, std::size_t count);
  Expected<> check_expectations(const Plan& plan, const host::Host& host) const;
  Expected<> settle(const Begin& begin, const std::string& port);
  Expected<> links_as_before(const Begin& begin, const host::Host& host) const;
  Expected<Result> finish_apply(std::int64_t id, const Begin& begin);
  Expected<Result> commit(const Entry& entry, const std::optional<Caller>& caller);

  // rollback.cc
  Result take_back(const Entry& entry, const std::string& reason, const std::optional<Caller>& caller);
  // One batch: reads again, writes what still differs. Returns what went wrong; empty: nothing.
  std::string restore_batch(const Entry& entry, std::size_t step, const std::vector<host::Knob>& knobs,
                            bool rebooted);
  std::string restore_hidden(const Entry& entry, const host::Port& port, const host::Knob& knob);

  ManagedHost& host_;
  Journal& journal_;
  Timing timing_;
  Limits limits_;
  Say say_;
  std::optional<std::string> journal_failed_;
};

}  // namespace rocetune::tune
