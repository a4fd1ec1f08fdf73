#include <CLI/CLI.hpp>

#include <memory>

#include "agent/tune/guardrails.h"
#include "tools/rocetune/change.h"
#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {
namespace {

void add_change_options(CLI::App& app, ChangeOptions& out) {
  app.add_flag("--json", out.common.json, "one JSON object on standard output");
  add_text(app, "--root", out.common.root, "DIR", "host root: a container's view of its host");
  add_text(app, "--state-dir", out.state_directory, "DIR", "journal, lock and history")
      ->capture_default_str();
  add_text(app, "--config-dir", out.config_directory, "DIR",
           "folder laid out as configs/, its files before built-in ones");
}

// A text with a unit. "none" is allowed where the value is optional.
template <class T, class Parse>
void add_quantity(CLI::App& app, const std::string& flag, T& out, const std::string& help, const Parse& parse,
                  const std::optional<std::string>& none = {}) {
  app.add_option_function<std::string>(
      flag,
      [&out, flag, parse, none](const std::string& text) {
        if constexpr (requires { out.reset(); }) {
          if (none && text == *none) {
            out.reset();
            return;
          }
        }
        const auto parsed = parse(text);
        if (!parsed) {
          throw CLI::ValidationError(flag, fmt::format("found {}, allowed: {}{}", parsed.error().found,
                                                       parsed.error().allowed, none ? ", or " + *none : ""));
        }
        out = *parsed;
      },
      help);
}

// The parser, with the range that profiles have for the same quantity.
template <class T>
auto within(Parsed<T> (*parse)(std::string_view), T low, T high) {
  return [=](const std::string& text) -> Parsed<T> {
    auto parsed = parse(text);
    if (parsed && (*parsed < low || *parsed > high)) {
      return tl::unexpected(UnitError{text, fmt::format("{} to {}", to_text(low), to_text(high))});
    }
    return parsed;
  };
}

void add_plan_options(CLI::App& app, PlanOptions& out) {
  add_text(app, "--profile", out.profile, "NAME",
           "name (lossy, pcp-tagged-l2, roce-dscp26-prio3, sonic-dscp3-4) or file");
  add_text(app, "--port", out.ports, "NAME",
           "netdev or bond, may be repeated (default: every physical RoCE port of a known NIC)");
  add_quantity(app, "--cable", out.cable, "length for headroom and delay, instead of the profile's: 30m",
               within(parse_metres, tune::kShortestCable, tune::kLongestCable));
  add_quantity(app, "--mtu", out.mtu, "least MTU, instead of the profile's: 9000B",
               within(parse_bytes, tune::kSmallestMtu, tune::kLargestMtu));
  app.add_option_function<std::string>(
         "--buffers",
         [&out](const std::string& text) {
           for (const auto& [policy, name] : EnumNames<tune::BufferPolicy>::names) {
             if (name == text) out.buffers = policy;
           }
         },
         "receive buffers: keep, driver (the driver's own, checked), explicit (always set)")
      ->type_name("POLICY")
      ->check(one_of<tune::BufferPolicy>());
  app.add_flag("--mlnx-qos", out.with_mlnx_qos, "show mlnx_qos lines too");
  app.get_option("--cable")->type_name("LENGTH");
  app.get_option("--mtu")->type_name("SIZE");
}

CLI::Option* add_id(CLI::App& app, std::optional<std::int64_t>& out, const std::string& help) {
  return app.add_option("id", out, help)->type_name("N")->check(whole_number(1));
}

std::string allow_help() {
  std::string out = "What --allow NAME consents to:\n";
  for (const tune::Guardrail& guardrail : tune::guardrails()) {
    if (!guardrail.consent.empty()) out += fmt::format("  {:22} {}\n", guardrail.consent, guardrail.meaning);
  }
  out += "  unresolved-rollback    a new change while a rollback is unfinished\n";
  out += "  overwrite-drift        taking back a change although its values were changed since\n";
  out += "Never allowed:\n";
  for (const tune::Guardrail& guardrail : tune::guardrails()) {
    if (guardrail.consent.empty()) out += fmt::format("  {}\n", guardrail.meaning);
  }
  return out;
}

void add_allow(CLI::App& app, std::vector<std::string>& out) {
  app.add_option("--allow", out, "consent to something by name (see below); may be repeated")
      ->type_name("NAME")
      ->check(one_of(tune::consent_names()).description(""));
}

auto duration = [](const std::string& text) -> Parsed<Duration> {
  auto parsed = parse_duration(text);
  if (parsed && (*parsed < Duration() || *parsed > seconds(7 * 24 * 3600))) {
    return tl::unexpected(UnitError{text, "0s to 168h"});
  }
  return parsed;
};

// Less leaves no time to log in again after a link bounce: the change would always be taken back.
constexpr Duration kShortestConfirmation = seconds(10);
auto confirmation = [](const std::string& text) -> Parsed<Duration> {
  auto parsed = duration(text);
  if (parsed && *parsed < kShortestConfirmation) {
    return tl::unexpected(UnitError{
        text, fmt::format("{} to 168h (less leaves no time to confirm)", to_text(kShortestConfirmation))});
  }
  return parsed;
};

constexpr const char* kExits =
    "Exit codes: 0 done (or waiting for confirm), 2 bad input or refused, nothing changed, 3 failed and "
    "undone, "
    "4 failed and NOT undone.\n";

}  // namespace

void add_plan(const Dispatch& dispatch) {
  CLI::App* app =
      dispatch.app.add_subcommand("plan", "what a profile would change here, in order; changes nothing");
  const auto command = std::make_shared<PlanCommand>();
  add_change_options(*app, command->change);
  add_plan_options(*app, command->plan);
  app->get_option("--profile")->required();
  CLI::Option* from = add_text(*app, "--from", command->from, "FILE",
                               "plan for the host in this file (inspect --json) instead");
  add_fabric(*app, command->fabric)->excludes(from)->excludes(app->get_option("--root"));
  add_text(*app, "-o,--output", command->output, "FILE", "write the plan here as JSON, for apply");
  app->footer(
      "Examples: rocetune plan --profile roce-dscp26-prio3 --cable 30m -o plan.json\n"
      "          rocetune plan --profile roce-dscp26-prio3 --fabric my-fabric.toml --host h3 -o plan.json\n"
      "          rocetune doctor --fabric my-fabric.toml --host h3 --apply plan.json");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_plan(*command); };
  });
}

void add_apply(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand("apply", "apply a plan as a transaction with a dead-man timer");
  const auto command = std::make_shared<ApplyCommand>();
  add_change_options(*app, command->change);
  add_plan_options(*app, command->plan);
  add_text(*app, "plan", command->plan_file, "FILE", "what plan -o wrote")->excludes("--profile");
  app->add_flag("--yes", command->yes, "do not ask");
  add_quantity(
      *app, "--confirm-within", command->confirm_within,
      "roll back unless confirmed in this time (default 10min); none: commit by itself after the soak",
      confirmation, "none");
  add_quantity(*app, "--soak", command->soak,
               "watch counters this long before it may be confirmed (default 30s)", duration);
  app->get_option("--confirm-within")->type_name("TIME");
  app->get_option("--soak")->type_name("TIME");
  add_allow(*app, command->allow);
  app->add_flag("--persist", command->persist, "install the boot unit that re-applies the confirmed state");
  app->add_flag("--boot", command->boot, "what the boot unit runs: finish what a reboot cut off, re-apply")
      ->excludes("--profile")
      ->excludes("plan");
  app->footer(allow_help() + kExits +
              "Example: rocetune apply --profile roce-dscp26-prio3 --confirm-within 5min; rocetune confirm");
  app->callback([&dispatch_action = dispatch.action, command] {
    if (!command->boot && command->plan_file.empty() && command->plan.profile.empty()) {
      throw CLI::RequiredError("a plan file or --profile");
    }
    dispatch_action = [command] { return run_apply(*command); };
  });
}

void add_confirm(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand("confirm", "keep what was applied");
  const auto command = std::make_shared<ConfirmCommand>();
  add_change_options(*app, command->change);
  add_id(*app, command->id, "transaction (default: the one that waits)");
  app->footer("Example: rocetune confirm 7");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_confirm(*command); };
  });
}

void add_rollback(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand(
      "rollback", "take back the open transaction, a rollback that failed, or a committed transaction");
  const auto command = std::make_shared<RollbackCommand>();
  add_change_options(*app, command->change);
  add_id(*app, command->id, "transaction (default: the open one, else the last committed)");
  app->add_flag("--yes", command->yes, "do not ask");
  add_quantity(*app, "--confirm-within", command->confirm_within,
               "for a committed one: redo it unless confirmed in this time (default none)", confirmation,
               "none");
  add_quantity(*app, "--soak", command->soak, "for a committed one: watch counters this long (default 5s)",
               duration);
  app->get_option("--confirm-within")->type_name("TIME");
  app->get_option("--soak")->type_name("TIME");
  add_allow(*app, command->allow);
  app->footer(allow_help() + "What was allowed for the change is allowed for its undo.\n" + kExits +
              "Example: rocetune rollback 7");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_rollback(*command); };
  });
}

void add_recover(const Dispatch& dispatch) {
  CLI::App* app =
      dispatch.app.add_subcommand("recover", "finish what a killed process or a reboot left open");
  const auto options = std::make_shared<ChangeOptions>();
  add_change_options(*app, *options);
  app->footer("Every changing command does this first. Example: rocetune recover");
  app->callback([&dispatch_action = dispatch.action, options] {
    dispatch_action = [options] { return run_recover(*options); };
  });
}

void add_history(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand("history", "who changed what, when, why, and how it ended");
  const auto command = std::make_shared<HistoryCommand>();
  add_change_options(*app, command->change);
  app->add_option("--query", command->query, "one SELECT on the SQLite index: transactions, changes, notes")
      ->type_name("SQL")
      ->check(some("one SELECT"));
  CLI::App* show =
      app->add_subcommand("show", "one transaction in full, with the command that takes it back");
  add_id(*show, command->id, "transaction")->required();
  show->add_flag("--json", command->change.common.json, "one JSON object on standard output");
  add_text(*show, "--state-dir", command->change.state_directory, "DIR", "journal, lock and history")
      ->capture_default_str();
  show->footer("Example: rocetune history show 7 --json");
  app->footer(
      "Examples: rocetune history\n"
      "          rocetune history show 7\n"
      "          rocetune history --query 'select id, outcome from transactions'");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_history(*command); };
  });
}

void add_persist(const Dispatch& dispatch) {
  CLI::App* app =
      dispatch.app.add_subcommand("persist", "install or remove the boot unit for the confirmed state");
  const auto command = std::make_shared<PersistCommand>();
  add_change_options(*app, command->change);
  app->add_flag("--remove", command->remove, "settings then last until the next reboot");
  app->footer("Example: rocetune persist");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_persist(*command); };
  });
}

void add_deadman(const Dispatch& dispatch) {
  CLI::App* app = dispatch.app.add_subcommand("deadman", "the dead-man timer's process; started by apply");
  const auto command = std::make_shared<DeadmanCommand>();
  add_change_options(*app, command->change);
  app->add_option("--id", command->id, "transaction")->required();
  app->group("");
  app->callback([&dispatch_action = dispatch.action, command] {
    dispatch_action = [command] { return run_deadman(*command); };
  });
}

}  // namespace rocetune::cli
