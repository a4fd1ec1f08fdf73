// From wherever the host is back to the state before: the backward half of Transactions.
#include <algorithm>

#include "agent/tune/restoration.h"
#include "agent/tune/transaction.h"

namespace rocetune::tune {

Result Transactions::take_back(const Entry& entry, const std::string& reason,
                               const std::optional<Caller>& caller) {
  say_(fmt::format("rolling back transaction {}: {}", entry.id, reason));
  Record first = record(RecordKind::rollback_begin, entry.id);
  first.reason = reason;
  first.caller = caller;
  const bool rebooted = first.at.boot_id != entry.began.boot_id;
  (void)log(std::move(first));

  Result result{Verdict::rolled_back, entry.id, reason, {}, 0, {}};
  for (int round = 0;; ++round) {
    if (round > 0) host_.sleep(timing_.round_pause);
    const auto host = host_.look(ports_of(entry.begin));
    const std::vector<Restoration> left =
        host ? restorations(entry, *host, rebooted) : std::vector<Restoration>();
    if (host && left.empty()) break;
    if (round == timing_.rollback_rounds) {
      result.details = host ? residue(entry, *host, rebooted)
                            : std::vector{"the host cannot be read: " + host.error().text()};
      break;
    }
    for (const Restoration& batch : left) {
      const std::string trouble = restore_batch(entry, batch.step, batch.knobs, rebooted);
      if (!trouble.empty()) note(entry.id, fmt::format("while rolling back {}: {}", batch.port, trouble));
    }
  }
  if (!rebooted && !entry.intended.empty()) {
    for (const PortBaseline& baseline : entry.begin.baseline) {
      if (auto status = settle(entry.begin, baseline.port); !status) {
        result.details.push_back(status.error().text());
      }
    }
  }
  if (!result.details.empty()) result.verdict = Verdict::rollback_failed;

  Record end = record(RecordKind::end, entry.id);
  end.outcome = result.verdict == Verdict::rolled_back ? Outcome::rolled_back : Outcome::rollback_failed;
  end.reason = reason;
  end.caller = caller;
  end.residue = result.details;
  if (log(std::move(end))) (void)journal_.trim();
  result.journal_failed = journal_failed_;
  return result;
}

std::string Transactions::restore_batch(const Entry& entry, std::size_t step,
                                        const std::vector<host::Knob>& knobs, bool rebooted) {
  const std::string& port_name = knobs.front().port;
  Record intent = record(RecordKind::step_intent, entry.id);
  intent.step = static_cast<std::int64_t>(step);
  intent.direction = Direction::rollback;
  (void)log(std::move(intent));

  // What stood before may have been restored as a side effect of the batches done meanwhile: look again.
  auto host = host_.look({port_name});
  if (!host) return host.error().text();
  const host::Port* port = host->find_port(port_name);
  if (port == nullptr) return fmt::format("port {} has gone", port_name);
  std::vector<host::KnobWrite> batch;
  std::string trouble;
  for (const host::Knob& knob : knobs) {
    if (!needs_restoring(entry, *host, knob, rebooted)) continue;
    const auto wanted = value_to_restore(entry, knob);
    auto current = host::value_of(*host, knob);
    if (wanted && !current) {
      // Hidden again since (an undo that was about to end): it has to show before it can be written.
      if (auto status = host_.writer().reveal(*port, knob); !status) trouble = status.error().text();
      const auto shown = host_.look({port_name});
      if (shown) current = host::value_of(*shown, knob);
    }
    if (wanted && current && *current != *wanted) batch.push_back({knob, *current, *wanted});
    if (wanted && !current) trouble = fmt::format("{} cannot be read", host::to_text(knob));
  }
  bool interrupts = step < entry.begin.plan.steps.size() && entry.begin.plan.steps[step].interrupts_link;
  for (const host::KnobWrite& write : batch) {
    say_(fmt::format("{}: back to {}", host::to_text(write.knob), host::to_text(write.knob, write.target)));
    interrupts |= write.knob.kind == host::KnobKind::pfc || write.knob.kind == host::KnobKind::mtu;
  }
  if (!batch.empty()) {
    if (auto status = host_.writer().write(*port, batch); !status) trouble = status.error().text();
    if (interrupts) {
      if (auto status = settle(entry.begin, port_name); !status) trouble = status.error().text();
    }
  }
  for (const host::Knob& knob : knobs) {
    const std::string hidden = restore_hidden(entry, *port, knob);
    if (!hidden.empty()) trouble = hidden;
  }
  host = host_.look({port_name});
  if (!host) return host.error().text();
  Record done = record(RecordKind::step_done, entry.id);
  done.step = static_cast<std::int64_t>(step);
  done.direction = Direction::rollback;
  done.read_back.emplace();
  for (const host::Knob& knob : knobs) {
    done.read_back->push_back(reading_of(*host, knob));
    if (trouble.empty() && needs_restoring(entry, *host, knob, rebooted)) {
      trouble = fmt::format("{} was written and does not read back", host::to_text(knob));
    }
  }
  (void)log(std::move(done));
  return trouble;
}

// A knob that had to be made visible is hidden again, once its value is what it was.
std::string Transactions::restore_hidden(const Entry& entry, const host::Port& port, const host::Knob& knob) {
  for (const Step& step : entry.begin.plan.steps) {
    for (const Change& change : step.changes) {
      if (change.knob != knob || change.before) continue;
      const auto host = host_.look({knob.port});
      if (!host) return host.error().text();
      const auto current = host::value_of(*host, knob);
      if (!current) return "";
      const auto wanted = value_to_restore(entry, knob);
      if (wanted && *current != *wanted) return fmt::format("{} is not restored", host::to_text(knob));
      auto status = host_.writer().conceal(port, knob);
      return status ? "" : status.error().text();
    }
  }
  return "";
}

}  // namespace rocetune::tune
