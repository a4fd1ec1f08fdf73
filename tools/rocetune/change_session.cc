#include "tools/rocetune/change_session.h"

#include <cstdio>

#include "agent/tune/boot_unit.h"
#include "agent/tune/compaction.h"
#include "agent/tune/deadman.h"
#include "agent/tune/history.h"
#include "agent/tune/history_index.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::cli {
namespace {

using tune::Result;
using tune::Verdict;

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::committed:
      return "committed";
    case Verdict::waiting:
      return "waiting";
    case Verdict::rolled_back:
      return "rolled_back";
    case Verdict::rollback_failed:
      return "rollback_failed";
    case Verdict::refused:
      return "refused";
    case Verdict::nothing_to_do:
      return "nothing_to_do";
    case Verdict::adopted:
      return "adopted";
  }
  return "?";
}

void write_soak(JsonWriter& out, const tune::SoakEvidence& evidence) {
  out.key("soak").begin_object().member("has_evidence", !evidence.is_empty());
  for (const auto& [name, list] :
       {std::pair{"judged", &evidence.judged}, {"not_judged", &evidence.not_judged}}) {
    out.key(name).begin_array();
    for (const tune::RuleOnPort& entry : *list) {
      out.begin_object().member("port", entry.port).member("rule", entry.rule);
      if (!entry.why.empty()) out.member("why", entry.why);
      out.end_object();
    }
    out.end_array();
  }
  out.end_object();
}

std::string result_json(const Result& result) {
  JsonWriter out;
  out.begin_object().member("schema_version", 1).member("outcome", name_of(result.verdict));
  if (result.id != 0) out.member("transaction", result.id);
  out.member("reason", result.reason);
  out.key("details").begin_array();
  for (const std::string& line : result.details) out.value(line);
  out.end_array();
  if (result.soak) write_soak(out, *result.soak);
  if (result.deadline_boottime_ns != 0) out.member("deadline_boottime_ns", result.deadline_boottime_ns);
  if (result.journal_failed) out.member("journal_failed", *result.journal_failed);
  out.end_object();
  return out.take();
}

std::string result_text(const Result& result, const tune::Moment& now) {
  std::string out;
  switch (result.verdict) {
    case Verdict::committed:
      out = fmt::format("Transaction {}: committed. Undo: rocetune rollback {}\n", result.id, result.id);
      break;
    case Verdict::waiting: {
      const std::int64_t left = (result.deadline_boottime_ns - now.boottime_ns) / 1'000'000'000;
      out = fmt::format(
          "Transaction {}: {}.\n  Confirm within {}min {}s, or it is rolled back: rocetune confirm {}\n",
          result.id, result.reason, left / 60, left % 60, result.id);
      break;
    }
    case Verdict::rolled_back:
      out = fmt::format("Transaction {}: ROLLED BACK, the host is as before. Why: {}\n", result.id,
                        result.reason);
      break;
    case Verdict::rollback_failed:
      out = fmt::format(
          "Transaction {}: ROLLBACK FAILED. The host is neither as before nor as planned. Why it was rolled "
          "back: {}\n"
          "  Not as before:\n",
          result.id, result.reason);
      break;
    case Verdict::refused:
      out = "Refused, nothing was changed:\n";
      break;
    case Verdict::adopted:
      out = fmt::format(
          "Transaction {}: nothing was written; what the host shows is now its confirmed state.\n",
          result.id);
      break;
    case Verdict::nothing_to_do:
      out = result.reason.empty() ? "Nothing to do.\n" : fmt::format("Nothing to do: {}.\n", result.reason);
      break;
  }
  for (const std::string& line : result.details) out += fmt::format("  {}\n", line);
  if (result.soak && (result.verdict == Verdict::committed || result.verdict == Verdict::waiting)) {
    for (const std::string& line : tune::evidence_lines(*result.soak)) out += fmt::format("  {}\n", line);
  }
  if (result.verdict == Verdict::rollback_failed) {
    out += fmt::format("  Try again: rocetune rollback {}\n", result.id);
  }
  if (result.journal_failed) {
    out += fmt::format("The journal could not be told, the next start will catch up: {}\n",
                       *result.journal_failed);
  }
  return out;
}

}  // namespace

Expected<Tables> Tables::load(const std::string& config_directory) {
  auto files = ConfigFiles::with_directory(config_directory);
  if (!files) return tl::unexpected(files.error());
  auto nics = host::NicTable::load(*files);
  if (!nics) return tl::unexpected(nics.error());
  auto schema = counters::Schema::load(*files);
  if (!schema) return tl::unexpected(schema.error());
  auto limits = tune::load_limits(*files, *nics);
  if (!limits) return tl::unexpected(limits.error());
  return Tables{std::move(*files), std::move(*nics), std::move(*schema), std::move(*limits)};
}

ChangeSession::ChangeSession(ChangeOptions options, Tables tables, tune::StateDirectory state, LockFile lock,
                             tune::Journal journal)
    : options_(std::move(options)),
      tables_(std::move(tables)),
      state_(std::move(state)),
      lock_(std::move(lock)),
      journal_(std::move(journal)),
      host_(options_.common.root, tables_.nics, tables_.schema),
      transactions_(host_, journal_, tune::Timing(), tables_.limits,
                    [](const std::string& line) { fmt::print(stderr, "{}\n", line); }) {}

Expected<std::unique_ptr<ChangeSession>> ChangeSession::open(const ChangeOptions& options) {
  auto tables = Tables::load(options.config_directory);
  if (!tables) return tl::unexpected(tables.error());
  tune::StateDirectory state(options.state_directory);
  if (auto status = state.make(); !status) return tl::unexpected(status.error());
  auto lock = state.lock();
  if (!lock) return tl::unexpected(lock.error());
  // A journal that could not be shortened does no harm: damage is told by opening it.
  const auto aside = tune::shorten_journal(state);
  if (aside && *aside) fmt::print(stderr, "the journal is shorter now; the whole one: {}\n", **aside);
  auto journal = state.open_journal();
  if (!journal) return tl::unexpected(journal.error());
  return std::unique_ptr<ChangeSession>(new ChangeSession(options, std::move(*tables), std::move(state),
                                                          std::move(*lock), std::move(*journal)));
}

Expected<tune::Ledger> ChangeSession::ledger() const {
  return tune::Ledger::from(journal_.records(), state_.journal_path());
}

Expected<> ChangeSession::arm(std::int64_t id) const {
  const auto program = tune::program_path();
  if (!program) return tl::unexpected(program.error());
  std::vector<std::string> command{
      *program,      "deadman",    "--id", fmt::format("{}", id), "--root", options_.common.root,
      "--state-dir", state_.path()};
  if (!options_.config_directory.empty()) {
    command.insert(command.end(), {"--config-dir", options_.config_directory});
  }
  return tune::start_deadman(state_, command);
}

Expected<tune::Result> ChangeSession::recover(const tune::Caller& caller) {
  auto result = transactions_.recover(caller);
  if (result && result->verdict == Verdict::waiting && !tune::deadman_is_alive(state_)) {
    if (auto status = arm(result->id); !status) complain(status.error().text());
  }
  if (result && (result->verdict == Verdict::rolled_back || result->verdict == Verdict::rollback_failed)) {
    fmt::print(stderr, "{}", result_text(*result, host_.now()));
  }
  return result;
}

ExitCode ChangeSession::report(const Result& result) {
  print(options_.common.json ? result_json(result) : result_text(result, host_.now()));
  if (result.id != 0) {
    const auto book = ledger();
    const auto status =
        book ? tune::write_history_index(*book, state_.index_path()) : tl::unexpected(book.error());
    if (!status && status.error().kind() != ErrorKind::unsupported) complain(status.error().text());
  }
  return tune::exit_code(result.verdict);
}

}  // namespace rocetune::cli
