#include "tools/rocetune/change.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "agent/host/host_reader.h"
#include "agent/tune/arrange.h"
#include "agent/tune/caller.h"
#include "agent/tune/deadman.h"
#include "agent/tune/derived_plans.h"
#include "agent/tune/history.h"
#include "agent/tune/plan_text.h"
#include "agent/tune/planner.h"
#include "agent/virtual_host/host_facts.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"
#include "tools/rocetune/change_session.h"
#include "tools/rocetune/consent.h"
#include "tools/rocetune/persist.h"
#include "tools/rocetune/switch_class.h"

namespace rocetune::cli {
namespace {

using tune::Caller;
using tune::Plan;
using tune::Result;
using tune::Verdict;

constexpr Duration kPortsAppear = seconds(60);  // NICs whose driver probes late at boot

Expected<tune::Profile> profile_for(const PlanOptions& options, const Tables& tables) {
  auto profile = tune::load_profile(options.profile, tables.files, tables.nics);
  if (!profile) return profile;
  if (options.cable) profile->cable = options.cable;
  if (options.mtu) profile->mtu = options.mtu;
  if (options.buffers) profile->buffers = *options.buffers;
  return profile;
}

Expected<Plan> plan_for(const host::Host& host, const tune::Profile& profile, const PlanOptions& options,
                        const Tables& tables) {
  return tune::make_plan(host, profile, tables.nics, options.ports, tune::current_moment().unix_ns);
}

Expected<host::Host> host_for(const PlanCommand& command, const Tables& tables) {
  return host_of({command.change.common.root, command.from, &command.fabric}, tables.nics);
}

bool is_of_a_fabric(const host::Host& host) {
  return std::ranges::any_of(host.ports,
                             [](const host::Port& port) { return port.nic == virtual_host::kNic; });
}

// What apply and rollback are for a host that is made anew by every command.
std::string way_to_try(const PlanCommand& command) {
  const bool is_known = command.fabric.is_given();  // else by what inspect said of it
  return fmt::format(
      "\nApply and rollback are for real hosts. On this one of the virtual fabric: rocetune doctor --fabric "
      "{} --host {} --apply {}\n",
      is_known ? command.fabric.scenario : "SCENARIO", is_known ? command.fabric.host : "HOST",
      command.output.empty() ? "FILE (plan -o)" : command.output);
}

// A plan of a file, or a function that makes one: what is wrong with files and flags is found before the host
// is looked at.
using PlanSource = std::function<Expected<Plan>(const host::Host&)>;
Expected<PlanSource> plan_source(const ApplyCommand& command, const Tables& tables) {
  if (command.plan_file.empty()) {
    auto profile = profile_for(command.plan, tables);
    if (!profile) return tl::unexpected(profile.error());
    return PlanSource([profile = std::move(*profile), &command, &tables](const host::Host& host) {
      return plan_for(host, profile, command.plan, tables);
    });
  }
  const auto text = read_file(command.plan_file);
  if (!text) return tl::unexpected(Error(ErrorKind::bad_input, text.error().text()));
  auto plan = tune::plan_from_json(*text, command.plan_file);
  if (!plan) return tl::unexpected(plan.error());
  return PlanSource([plan = std::move(*plan), &tables](const host::Host& host) {
    return Expected<Plan>(tune::with_known_effects(plan, host, tables.nics));
  });
}

// A reminder for who plans while something is unfinished; planning itself changes nothing.
void mention_open(const ChangeOptions& options) {
  const tune::StateDirectory state(options.state_directory);
  const auto journal = state.read_journal();
  if (!journal) return;
  const auto ledger = tune::Ledger::from(journal->records(), state.journal_path());
  const tune::Entry* open = ledger ? ledger->open() : nullptr;
  if (open != nullptr) {
    complain(fmt::format("transaction {}: {} (rocetune history)", open->id,
                         tune::state_text(*open, tune::current_moment())));
  }
}

// What apply would object to by what can be seen now; traffic is looked at when it matters.
std::vector<tune::Refusal> refusals_now(const host::Host& host, const Plan& plan, const Tables& tables,
                                        const std::vector<std::string>& allow) {
  const Observed<counters::Interval> unseen = not_read();
  auto found =
      tune::uncovered(tune::refusals({host, plan, unseen, tables.limits}), {allow.begin(), allow.end()});
  std::erase_if(found, [](const tune::Refusal& refusal) { return refusal.consent == "rdma-traffic"; });
  return found;
}

tune::ApplyRequest request_of(const Caller& caller, const std::vector<std::string>& allow,
                              std::optional<Duration> confirm_within, Duration soak) {
  tune::ApplyRequest request;
  request.caller = caller;
  request.consents = {allow.begin(), allow.end()};
  request.confirm_within = confirm_within;
  request.soak = soak;
  return request;
}

ExitCode apply_plan(ChangeSession& session, const Plan& plan, const tune::ApplyRequest& request,
                    bool persist = false) {
  auto result = session.transactions().apply(plan, request, [&](std::int64_t id) { return session.arm(id); });
  // With a state as wanted that is to outlive a reboot, what was found becomes the confirmed state.
  if (result && persist && result->verdict == Verdict::nothing_to_do) {
    result = session.transactions().adopt(plan, request);
  }
  if (!result) return complain(result.error());
  const ExitCode code = session.report(*result);
  return persist ? persist_after(session, *result, code) : code;
}

// Nothing is begun while something is open; what could be finished was.
std::optional<ExitCode> blocked(const Expected<Result>& recovered, ChangeSession& session) {
  if (!recovered) return complain(recovered.error());
  if (recovered->verdict == Verdict::waiting) {
    complain(
        fmt::format("transaction {0} waits for confirmation: rocetune confirm {0} or rocetune rollback {0}",
                    recovered->id));
    return ExitCode::bad_input;
  }
  if (recovered->verdict == Verdict::rollback_failed) return session.report(*recovered);
  return std::nullopt;
}

std::string command_text(std::string_view name) { return fmt::format("rocetune {}", name); }

// At boot: ports that the confirmed state needs and that are not there yet.
bool is_missing(const Plan& plan) {
  return std::any_of(plan.remarks.begin(), plan.remarks.end(),
                     [](const std::string& remark) { return remark.ends_with("is not there"); });
}

ExitCode run_boot(ChangeSession& session, const Caller& caller) {
  const auto recovered = session.recover(caller);
  if (!recovered) return complain(recovered.error());
  const auto book = session.ledger();
  if (!book) return complain(book.error());
  const tune::ConfirmedState state = tune::confirmed_state(*book);
  Plan plan;
  for (Duration waited;; waited += seconds(1)) {
    const auto host = session.host().observe();
    if (!host) return complain(host.error());
    plan = tune::boot_plan(*host, state, session.tables().nics, tune::current_moment().unix_ns);
    if (!is_missing(plan) || waited >= kPortsAppear) break;
    session.host().sleep(seconds(1));
  }
  for (const std::string& remark : plan.remarks) complain(remark);
  std::vector<std::string> allow(state.consents.begin(), state.consents.end());
  allow.emplace_back("unresolved-rollback");  // whatever was left half way is gone with the reboot
  auto result = session.transactions().apply(plan, request_of(caller, allow, std::nullopt, seconds(5)),
                                             [](std::int64_t) { return Expected<>(); });
  if (!result) return complain(result.error());
  if (result->verdict == Verdict::nothing_to_do) result->reason = "the confirmed state is in force";
  return session.report(*result);
}

}  // namespace

ExitCode run_plan(const PlanCommand& command) {
  const auto tables = Tables::load(command.change.config_directory);
  if (!tables) return complain(tables.error());
  const auto profile = profile_for(command.plan, *tables);
  if (!profile) return complain(profile.error());
  const auto host = host_for(command, *tables);
  if (!host) return complain(host.error());
  if (command.from.empty() && !command.fabric.is_given()) mention_open(command.change);
  const auto plan = plan_for(*host, *profile, command.plan, *tables);
  if (!plan) return complain(plan.error());
  if (!command.output.empty()) {
    const auto status = write_atomically(command.output, tune::to_json_text(*plan));
    if (!status) return complain(status.error());
  }
  const auto refused = refusals_now(*host, *plan, *tables, {});
  if (command.change.common.json) {
    print(tune::plan_json(*plan, *host, refused, command.plan.with_mlnx_qos));
    return ExitCode::fine;
  }
  const bool is_scenario = is_of_a_fabric(*host);
  print(tune::plan_text(*plan, *host, refused, command.plan.with_mlnx_qos,
                        is_scenario ? tune::AppliesTo::scenario : tune::AppliesTo::host));
  if (is_scenario && !plan->is_empty()) print(way_to_try(command));
  return ExitCode::fine;
}

ExitCode run_apply(const ApplyCommand& command) {
  auto session = ChangeSession::open(command.change);
  if (!session) return complain(session.error());
  const Caller caller = tune::current_caller(command_text(command.boot ? "apply --boot" : "apply"));
  if (command.boot) return run_boot(**session, caller);
  if (command.persist) {  // what forbids a boot unit is said before anything is changed
    if (auto possible = can_persist(**session); !possible) return complain(possible.error());
  }
  const auto source = plan_source(command, (*session)->tables());
  if (!source) return complain(source.error());
  if (const auto code = blocked((*session)->recover(caller), **session)) return *code;
  const auto host = (*session)->host().observe();
  if (!host) return complain(host.error());
  const auto plan = (*source)(*host);
  if (!plan) return complain(plan.error());
  const auto refused = refusals_now(*host, *plan, (*session)->tables(), command.allow);
  // That nothing has to change is said of the host and the state that a file's plan is bound to only.
  const bool foreign = plan->is_empty() && !tune::staleness(*plan, *host).empty();
  if (!command.change.common.json && !foreign) {
    print(tune::plan_text(*plan, *host, refused, command.plan.with_mlnx_qos));
  }
  if (!plan->is_empty() && refused.empty()) {
    if (auto status = consent(command.yes, "Apply this plan?"); !status) return complain(status.error());
  }
  return apply_plan(**session, *plan, request_of(caller, command.allow, command.confirm_within, command.soak),
                    command.persist);
}

ExitCode run_confirm(const ConfirmCommand& command) {
  auto session = ChangeSession::open(command.change);
  if (!session) return complain(session.error());
  auto result = (*session)->transactions().confirm(command.id, tune::current_caller(command_text("confirm")));
  if (!result) return complain(result.error());
  const ExitCode code = (*session)->report(*result);
  return result->verdict == Verdict::waiting ? ExitCode::bad_input : code;
}

ExitCode run_rollback(const RollbackCommand& command) {
  auto session = ChangeSession::open(command.change);
  if (!session) return complain(session.error());
  const Caller caller = tune::current_caller(command_text("rollback"));
  const auto book = (*session)->ledger();
  if (!book) return complain(book.error());
  const tune::Entry* failed = book->unrepaired();
  if (book->open() != nullptr || (failed != nullptr && (!command.id || *command.id == failed->id))) {
    auto result = (*session)->transactions().roll_back(command.id, caller, "asked for");
    if (!result) return complain(result.error());
    const ExitCode code = (*session)->report(*result);
    return result->verdict == Verdict::rolled_back ? ExitCode::fine : code;
  }
  const auto& entries = book->entries();
  const auto wanted = std::find_if(entries.rbegin(), entries.rend(), [&](const tune::Entry& entry) {
    return tune::can_be_undone(entry) && (!command.id || entry.id == *command.id);
  });
  if (wanted == entries.rend()) {
    return complain(Error(
        ErrorKind::bad_input,
        command.id
            ? fmt::format("transaction {} is not there, not committed, undone already or changed nothing",
                          *command.id)
            : "no committed transaction to roll back"));
  }
  const auto host = (*session)->host().observe();
  if (!host) return complain(host.error());
  // What was allowed to make the change is allowed to take it back.
  std::vector<std::string> allow = command.allow;
  allow.insert(allow.end(), wanted->begin.consents.begin(), wanted->begin.consents.end());
  const bool drift = std::find(allow.begin(), allow.end(), "overwrite-drift") != allow.end();
  const auto plan =
      tune::undo_plan(*host, *wanted, (*session)->tables().nics, drift, tune::current_moment().unix_ns);
  if (!plan) return complain(plan.error());
  const auto refused = refusals_now(*host, *plan, (*session)->tables(), allow);
  if (!command.change.common.json) print(tune::plan_text(*plan, *host, refused, false));
  if (!plan->is_empty() && refused.empty()) {
    if (auto status = consent(command.yes, fmt::format("Take back transaction {}?", wanted->id)); !status) {
      return complain(status.error());
    }
  }
  return apply_plan(**session, *plan, request_of(caller, allow, command.confirm_within, command.soak));
}

ExitCode run_recover(const ChangeOptions& options) {
  auto session = ChangeSession::open(options);
  if (!session) return complain(session.error());
  const auto result = (*session)->recover(tune::current_caller(command_text("recover")));
  if (!result) return complain(result.error());
  const ExitCode code = (*session)->report(*result);
  return result->verdict == Verdict::rolled_back ? ExitCode::fine : code;
}

ExitCode run_deadman(const DeadmanCommand& command) {
  const tune::StateDirectory state(command.change.state_directory);
  const Caller caller = tune::current_caller("dead-man timer");
  // The lock is the loop's; everything else is opened anew, since the state may be of another process by now.
  const tune::DeadmanWorld world{
      tune::current_moment, tune::sleep_for, [&]() -> Expected<Result> {
        auto tables = Tables::load(command.change.config_directory);
        if (!tables) return tl::unexpected(tables.error());
        auto journal = state.open_journal();
        if (!journal) return tl::unexpected(journal.error());
        tune::LiveHost host(command.change.common.root, tables->nics, tables->schema);
        tune::Transactions transactions(host, *journal, tune::Timing(), tables->limits,
                                        [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
        return transactions.recover(caller);
      }};
  const auto result = tune::run_deadman(state, command.id, world);
  if (!result) return complain(result.error());
  return tune::exit_code(result->verdict);
}

}  // namespace rocetune::cli
