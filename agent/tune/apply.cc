// From a plan to a host that shows it: the forward half of Transactions.
#include <algorithm>

#include "agent/tune/arrange.h"
#include "agent/tune/plan_json.h"
#include "agent/tune/transaction.h"
#include "agent/tune/verification.h"

namespace rocetune::tune {
namespace {

// Room for every record that apply and all rounds of a rollback can write.
Bytes worst_case(const Begin& begin, int rounds) {
  JsonWriter out(JsonWriter::Style::compact);
  rocetune::to_json(out, begin.plan);
  const auto plan = static_cast<std::int64_t>(out.take().size());
  std::int64_t readings = 0;
  for (const PortBaseline& port : begin.baseline) {
    JsonWriter writer(JsonWriter::Style::compact);
    rocetune::to_json(writer, port.port);
    for (const Reading& reading : port.knobs) {
      if (reading.value) rocetune::to_json(writer, *reading.value);
    }
    readings += 200 * static_cast<std::int64_t>(port.knobs.size());
  }
  const std::int64_t step = 1024;  // one record without its values
  const std::int64_t steps = static_cast<std::int64_t>(begin.plan.steps.size()) + 8;
  return Bytes(2 * plan + 4 * readings + (2 + rounds) * (2 * steps * step + plan) + 65536);
}

std::vector<std::string> texts(const std::vector<Refusal>& refusals) {
  std::vector<std::string> out;
  for (const Refusal& refusal : refusals) out.push_back(to_text(refusal));
  return out;
}

}  // namespace

std::vector<std::string> Transactions::objections(const Plan& plan, const ApplyRequest& request,
                                                  const host::Host& host,
                                                  const Observed<counters::Interval>& traffic) const {
  std::vector<std::string> out = staleness(plan, host);
  if (!out.empty()) {
    out.insert(out.begin(), "the plan is stale: the host is not as it was when the plan was made");
    return out;
  }
  for (const Difference& difference : differences(host, values_before(plan))) {
    out.push_back(fmt::format("the plan's own value before is wrong: {}", to_text(difference)));
  }
  const auto open_refusals = uncovered(refusals({host, plan, traffic, limits_}), request.consents);
  for (std::string& text : texts(open_refusals)) out.push_back(std::move(text));
  const auto book = ledger();
  if (book && book->unrepaired() != nullptr && !request.consents.contains("unresolved-rollback")) {
    out.push_back(
        fmt::format("transaction {} is neither rolled back nor confirmed: rocetune rollback {} "
                    "(--allow unresolved-rollback)",
                    book->unrepaired()->id, book->unrepaired()->id));
  }
  return out;
}

Expected<Result> Transactions::refuse(std::int64_t id, Begin begin, std::vector<std::string> objections) {
  Record first = record(RecordKind::begin, id);
  begin.baseline.clear();
  begin.plan.facts.clear();  // what differs stands in the residue
  first.begin = std::move(begin);
  Record last = record(RecordKind::end, id);
  last.outcome = Outcome::refused;
  last.reason = objections.front();
  last.residue = objections;
  Result result{Verdict::refused, id, objections.front(), std::move(objections), 0, {}};
  if (auto status = log(std::move(first)); status) (void)log(std::move(last));
  result.journal_failed = journal_failed_;
  return result;
}

Expected<Result> Transactions::apply(const Plan& wanted, const ApplyRequest& request, const Arm& arm) {
  const auto book = ledger();
  if (!book) return tl::unexpected(book.error());
  if (book->open() != nullptr) {
    return fail(ErrorKind::conflict, "transaction {} is {}", book->open()->id,
                enum_name(book->open()->phase));
  }
  Observed<counters::Interval> before = not_read();
  if (!wanted.is_empty()) {
    const auto traffic = host_.measure(timing_.traffic_sample);
    before = traffic ? Observed<counters::Interval>(*traffic) : unavailable(traffic.error());
  }
  const auto host = host_.observe();
  if (!host) return tl::unexpected(host.error());
  // That nothing has to change is said of one host in one state, too.
  if (wanted.is_empty() && staleness(wanted, *host).empty()) {
    return Result{Verdict::nothing_to_do, 0, "the plan changes nothing", {}, 0, {}};
  }
  const Plan plan = with_known_effects(wanted, *host, limits_.nics);
  Begin begin{plan,           baseline_of(*host, plan.touched_ports(*host)),
              request.caller, std::vector<std::string>(request.consents.begin(), request.consents.end()),
              std::nullopt,   request.soak.count() / 1000};
  begin.plan.kept.clear();  // not this transaction's to confirm
  if (request.confirm_within) begin.confirm_within_ns = request.confirm_within->count() / 1000;
  const std::int64_t id = book->next_id();
  if (auto objected = objections(plan, request, *host, before); !objected.empty()) {
    return refuse(id, std::move(begin), std::move(objected));
  }
  if (auto status = journal_.reserve(worst_case(begin, timing_.rollback_rounds)); !status) {
    return tl::unexpected(status.error());
  }
  Record first = record(RecordKind::begin, id);
  first.begin = begin;
  if (auto status = log(std::move(first)); !status) return tl::unexpected(status.error());

  Expected<> done = arm(id);
  if (!done) done = tl::unexpected(std::move(done.error()).within("start the dead-man timer"));
  if (done) done = run_steps(id, begin);
  std::optional<SoakEvidence> evidence;
  if (done && begin.soak_ns > 0) done = soak(begin, before, evidence.emplace());
  if (done) {
    // Before the transaction ends: history then says what the soak was worth.
    if (evidence && evidence->is_empty()) note(id, evidence_lines(*evidence).front());
    auto result = finish_apply(id, begin);
    if (result) {
      result->soak = std::move(evidence);
      return result;
    }
    done = tl::unexpected(result.error());
  }
  return entry(id).map([&](const Entry& entry) {
    Result result = take_back(entry, done.error().text(), std::nullopt);
    result.soak = std::move(evidence);
    return result;
  });
}

Expected<> Transactions::run_steps(std::int64_t id, const Begin& begin) {
  for (std::size_t i = 0; i < begin.plan.steps.size(); ++i) {
    if (host_.stop_requested()) return fail(ErrorKind::conflict, "stopped on request");
    auto status = run_step(id, begin, i);
    if (!status) {
      return tl::unexpected(
          std::move(status.error()).within(fmt::format("step {} of {}", i + 1, begin.plan.steps.size())));
    }
  }
  auto host = host_.look(ports_of(begin));
  if (!host) return tl::unexpected(host.error());
  if (!links_as_before(begin, *host)) {
    // A port that was left in order may have lost its link to a later one's bounce: they can be wired
    // together.
    for (const PortBaseline& baseline : begin.baseline) {
      if (auto status = settle(begin, baseline.port); !status) return status;
    }
    host = host_.look(ports_of(begin));
    if (!host) return tl::unexpected(host.error());
  }
  return check_expectations(begin.plan, *host).and_then([&] { return links_as_before(begin, *host); });
}

Expected<> Transactions::run_step(std::int64_t id, const Begin& begin, std::size_t index) {
  const Step& step = begin.plan.steps[index];
  Record intent = record(RecordKind::step_intent, id);
  intent.step = static_cast<std::int64_t>(index);
  intent.direction = Direction::apply;
  if (auto status = log(std::move(intent)); !status) return status;

  for (const Change& change : step.changes) {
    if (change.before) continue;
    if (auto status = reveal_hidden(id, index, change); !status) return status;
  }
  const auto host = host_.look({step.port});
  if (!host) return tl::unexpected(host.error());
  const host::Port* port = host->find_port(step.port);
  if (port == nullptr) return fail(ErrorKind::absent, "port {} has gone", step.port);
  std::vector<host::KnobWrite> batch;
  for (const Change& change : step.changes) {
    const auto current = host::value_of(*host, change.knob);
    if (!current) {
      return fail(ErrorKind::conflict, "{} cannot be read: {}", to_text(change.knob), current.error().why);
    }
    say_(fmt::format("{}: {} -> {}", to_text(change.knob), to_text(change.knob, *current),
                     to_text(change.knob, change.after)));
    batch.push_back({change.knob, *current, change.after});
  }
  if (auto status = host_.writer().write(*port, batch); !status) return status;
  if (step.interrupts_link) {
    if (auto status = settle(begin, step.port); !status) return status;
  }
  auto readings = verify(begin.plan, index + 1);
  if (!readings) return tl::unexpected(readings.error());
  Record done = record(RecordKind::step_done, id);
  done.step = static_cast<std::int64_t>(index);
  done.direction = Direction::apply;
  done.read_back = std::move(*readings);
  return log(std::move(done));
}

Expected<> Transactions::reveal_hidden(std::int64_t id, std::size_t index, const Change& change) {
  auto host = host_.look({change.knob.port});
  if (!host) return tl::unexpected(host.error());
  const host::Port* port = host->find_port(change.knob.port);
  if (port == nullptr) return fail(ErrorKind::absent, "port {} has gone", change.knob.port);
  if (auto status = host_.writer().reveal(*port, change.knob); !status) return status;
  host = host_.look({change.knob.port});
  if (!host) return tl::unexpected(host.error());
  const auto value = host::value_of(*host, change.knob);
  if (!value) {
    return fail(ErrorKind::unsupported, "{} stays hidden: {}", to_text(change.knob), value.error().why);
  }
  Record revealed = record(RecordKind::revealed, id);
  revealed.step = static_cast<std::int64_t>(index);
  revealed.read_back = std::vector{Reading{change.knob, *value, ""}};
  return log(std::move(revealed));
}

Expected<std::vector<Reading>> Transactions::verify(const Plan& plan, std::size_t count) {
  const std::vector<Wanted> wanted = values_after(plan, count);
  std::vector<std::string> ports;
  for (const Wanted& want : wanted) ports.push_back(want.knob.port);
  auto host = host_.look(ports);
  if (!host) return tl::unexpected(std::move(host.error()).within("read back"));
  if (wanted.empty()) return fail(ErrorKind::conflict, "nothing was verified");
  const std::vector<Difference> wrong = differences(*host, wanted);
  if (!wrong.empty()) {
    std::string text;
    for (const Difference& difference : wrong) text += (text.empty() ? "" : "; ") + to_text(difference);
    return fail(ErrorKind::conflict, "the host does not show what was written: {}", text);
  }
  std::vector<Reading> readings;
  if (count == 0) return readings;
  for (const Change& change : plan.steps[count - 1].changes) {
    readings.push_back(reading_of(*host, change.knob));
  }
  return readings;
}

Expected<> Transactions::check_expectations(const Plan& plan, const host::Host& host) const {
  for (const Expectation& expected : plan.expectations) {
    const host::Port* port = host.find_port(expected.port);
    if (port == nullptr || !port->dcb.buffers) continue;  // planned only where buffers are shown
    const std::size_t p = static_cast<std::size_t>(expected.priority.value());
    const std::size_t buffer = port->dcb.buffers->buffer_of_priority[p];
    const Bytes size = buffer < 8 ? port->dcb.buffers->size[buffer] : Bytes(0);
    if (size < expected.minimum_buffer) {
      return fail(ErrorKind::conflict,
                  "{}: the buffer of lossless priority {} has {} B, its headroom needs {} B; "
                  "a profile with buffers = \"explicit\" sets it",
                  expected.port, p, size.count(), expected.minimum_buffer.count());
    }
  }
  return {};
}

Expected<> Transactions::links_as_before(const Begin& begin, const host::Host& host) const {
  for (const PortBaseline& baseline : begin.baseline) {
    if (auto status = port_is_back(host, baseline); !status) return status;
  }
  return {};
}

Expected<> Transactions::settle(const Begin& begin, const std::string& port) {
  const auto baseline = std::find_if(begin.baseline.begin(), begin.baseline.end(),
                                     [&](const PortBaseline& b) { return b.port == port; });
  if (baseline == begin.baseline.end() || !baseline->carrier) return {};
  const std::int64_t until = host_.now().boottime_ns + timing_.link_timeout.count() / 1000;
  std::int64_t good_since = 0;
  // Right after the write a link that is about to drop may still look up: the first look is after one poll.
  Error last(ErrorKind::io, fmt::format("{} was not looked at", port));
  while (true) {
    host_.sleep(timing_.poll);
    const std::int64_t now = host_.now().boottime_ns;
    const auto host = host_.look_at_links({port});
    const Expected<> back = host ? port_is_back(*host, *baseline) : tl::unexpected(host.error());
    if (!back) {
      good_since = 0;
      last = back.error();
      if (now >= until) {
        return tl::unexpected(std::move(last).within(fmt::format("after {}", to_text(timing_.link_timeout))));
      }
      continue;
    }
    if (good_since == 0) good_since = now;
    if (now - good_since >= timing_.settle.count() / 1000) return {};
  }
}

Expected<> Transactions::soak(const Begin& begin, const Observed<counters::Interval>& before,
                              SoakEvidence& evidence) {
  const std::vector<std::string> ports = ports_of(begin);
  Duration left = nanoseconds(begin.soak_ns);
  if (!left.is_zero()) say_(fmt::format("watching counters for {}", to_text(left)));
  while (left > Duration()) {
    if (host_.stop_requested()) return fail(ErrorKind::conflict, "stopped on request");
    const Duration slice = std::min(left, timing_.soak_slice);
    left -= slice;
    auto during = host_.measure(slice);
    if (!during) return tl::unexpected(std::move(during.error()).within("soak"));
    const SoakJudgement found = judge_soak(before, *during, ports, limits_.soak);
    evidence.add(found.evidence);
    if (!found.regressions.empty()) {
      std::string text;
      for (const std::string& line : found.regressions) text += (text.empty() ? "" : "; ") + line;
      return fail(ErrorKind::conflict, "regression: {}", text);
    }
    if (auto readings = verify(begin.plan, begin.plan.steps.size()); !readings) {
      return tl::unexpected(std::move(readings.error()).within("soak"));
    }
    const auto host = host_.look_at_links(ports);
    if (!host) return tl::unexpected(host.error());
    if (auto status = links_as_before(begin, *host); !status) {
      return tl::unexpected(std::move(status.error()).within("soak"));
    }
  }
  return {};
}

Expected<Result> Transactions::finish_apply(std::int64_t id, const Begin& begin) {
  auto readings = verify(begin.plan, begin.plan.steps.size());
  if (!readings) return tl::unexpected(readings.error());
  if (!begin.confirm_within_ns) {
    return entry(id).and_then([&](const Entry& entry) { return commit(entry, std::nullopt); });
  }
  Record waiting = record(RecordKind::waiting, id);
  waiting.deadline_boottime_ns = waiting.at.boottime_ns + *begin.confirm_within_ns;
  const std::int64_t deadline = *waiting.deadline_boottime_ns;
  if (auto status = log(std::move(waiting)); !status) return tl::unexpected(status.error());
  return Result{Verdict::waiting, id, "applied; waits for confirmation", {}, deadline, {}};
}

Expected<Result> Transactions::commit(const Entry& entry, const std::optional<Caller>& caller) {
  for (const host::Knob& knob : entry.begin.plan.conceal) {
    const auto host = host_.look({knob.port});
    const host::Port* port = host ? host->find_port(knob.port) : nullptr;
    if (port == nullptr) continue;
    if (auto status = host_.writer().conceal(*port, knob); !status) note(entry.id, status.error().text());
  }
  Record end = record(RecordKind::end, entry.id);
  end.outcome = Outcome::committed;
  end.caller = caller;
  if (auto status = log(std::move(end)); !status) return tl::unexpected(status.error());
  if (auto status = journal_.trim(); !status) {
    say_("the journal's reserve was not given back: " + status.error().text());
  }
  return Result{Verdict::committed, entry.id, "committed", {}, 0, {}};
}

}  // namespace rocetune::tune
