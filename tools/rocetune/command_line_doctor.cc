#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/doctor.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {
namespace {

// The longest that a person waits for a diagnosis.
constexpr Duration kLongestWatch = seconds(600);

Parsed<Duration> parse_watch(std::string_view text) {
  if (text == "0") return Duration(0);
  auto span = parse_duration(text);
  if (span && (*span < Duration(0) || *span > kLongestWatch)) {
    return tl::unexpected(UnitError{std::string(text), "0 to " + to_text(kLongestWatch)});
  }
  return span;
}

Parsed<BitRate> parse_link_speed(std::string_view text) {
  auto rate = parse_bit_rate(text);
  if (rate && *rate <= BitRate(0)) {
    return tl::unexpected(UnitError{std::string(text), "a rate above 0, like 100Gbps"});
  }
  return rate;
}

struct Texts {
  std::string dscp, priority, cnp_dscp, cnp_priority, link_speed, watch_for = "2s", fail_on = "warning";
  std::function<bool()> watch_for_given;
};

void declare_class(CLI::App& app, Texts& texts, DoctorCommand& command) {
  const std::string group = "What RoCE is meant to use (else inferred, and said so)";
  const auto add = [&](const char* flag, std::string& text, const char* type, const char* help,
                       const auto& parse) {
    app.add_option(flag, text, help)->type_name(type)->check(parsed_by(parse))->group(group);
  };
  add("--dscp", texts.dscp, "DSCP", "DSCP of RoCE data: 26, or af31", parse_dscp);
  add("--priority", texts.priority, "PRIORITY", "its priority, the one with PFC", parse_priority);
  add("--cnp-dscp", texts.cnp_dscp, "DSCP", "DSCP of CNPs", parse_dscp);
  add("--cnp-priority", texts.cnp_priority, "PRIORITY", "their priority, without PFC", parse_priority);
  app.add_flag("--lossy", command.declared.lossy, "no PFC on purpose")->group(group);
  add_text(app, "--profile", command.profile, "NAME",
           "what plan would set up: a name of configs/profiles, or a file")
      ->group(group);
}

// After parsing: every text was checked.
void take_texts(const Texts& texts, DoctorCommand& command) {
  diagnose::Intent& declared = command.declared;
  const auto take = [&](const char* flag, const std::string& text, const auto& parse, auto& out) {
    if (text.empty()) return;
    out = parse(text).value();
    declared.origin += (declared.origin.empty() ? "" : ", ") + std::string(flag);
  };
  take("--dscp", texts.dscp, parse_dscp, declared.dscp);
  take("--priority", texts.priority, parse_priority, declared.priority);
  take("--cnp-dscp", texts.cnp_dscp, parse_dscp, declared.cnp_dscp);
  take("--cnp-priority", texts.cnp_priority, parse_priority, declared.cnp_priority);
  if (declared.lossy) declared.origin += declared.origin.empty() ? "--lossy" : ", --lossy";
  if (!texts.link_speed.empty()) command.link_speed = parse_link_speed(texts.link_speed).value();
  command.watch_for = parse_watch(texts.watch_for).value();
  if (command.fabric.is_given() && !texts.watch_for_given()) command.watch_for.reset();
  command.fail_on.reset();
  for (const auto& [severity, name] : EnumNames<diagnose::Severity>::names) {
    if (name == texts.fail_on) command.fail_on = severity;
  }
}

}  // namespace

void add_doctor(const Dispatch& dispatch) {
  CLI::App* doctor = dispatch.app.add_subcommand(
      "doctor", "findings with evidence, cause and fix: class map, flow control, ECN, MTU, GIDs, PCIe, loss");
  doctor->footer(
      "Changes nothing. Exit code 1 if something at or above --fail-on was found.\n\n"
      "  rocetune doctor\n"
      "  rocetune doctor --port eth0 --dscp 26 --priority 3 --watch-for 10s\n"
      "  rocetune inspect --json > host.json; rocetune watch --record load.jsonl --count 30\n"
      "  rocetune doctor --from host.json --recording load.jsonl --json | jq .findings\n"
      "  rocetune doctor --from ticket/ --explain-inputs\n"
      "  rocetune doctor --from trouble.pcap --dscp 26 --link-speed 100Gbps\n"
      "  rocetune doctor --fabric pause-storm-slow-receiver --host h0\n"
      "  rocetune doctor --explain PFC-6");
  auto command = std::make_shared<DoctorCommand>();
  auto texts = std::make_shared<Texts>();
  add_text(*doctor, "--port", command->ports, "NAME",
           "netdev to judge, may be repeated (default: every RoCE port)");
  CLI::Option* from = add_text(
      *doctor, "--from", command->from, "PATH",
      "judge what is in this folder or file, not this host: anything that people paste (tools, logs, "
      "benchmarks, switches), captures, what inspect --json or snapshot wrote");
  add_text(*doctor, "--recording", command->recording, "FILE",
           "with --from: counters that watch --record wrote")
      ->needs(from);
  add_text(*doctor, "--capture", command->captures, "FILE",
           "judge this capture too (pcap, pcapng, or what tap --json printed); may be repeated");
  doctor
      ->add_option(
          "--link-speed", texts->link_speed,
          "of captured links, for pause times, like 100Gbps (default: 100Gbps, and said to be assumed)")
      ->type_name("RATE")
      ->check(parsed_by(parse_link_speed));
  CLI::Option* watch_for =
      doctor
          ->add_option(
              "--watch-for", texts->watch_for,
              "sample counters for so long, 0 = not at all; of a fabric by default until all traffic "
              "is finished")
          ->type_name("TIME")
          ->capture_default_str()
          ->check(parsed_by(parse_watch))
          ->excludes(from);
  texts->watch_for_given = [watch_for] { return watch_for->count() > 0; };
  doctor->add_option("--fail-on", texts->fail_on, "exit 1 if this or worse is found")
      ->type_name("SEVERITY")
      ->capture_default_str()
      ->check(one_of({"critical", "warning", "info", "never"}));
  add_text(*doctor, "--explain", command->explain, "RULE",
           "what a rule says, why, and by which source; all of them: all");
  doctor
      ->add_flag("--explain-inputs", command->explain_inputs,
                 "with --from: say first what was recognised in which lines, and which were not understood")
      ->needs(from);
  doctor->add_flag("--passed", command->list_passed, "list what passed, with its evidence");
  declare_class(*doctor, *texts, *command);
  doctor->add_flag("--json", command->common.json, "one JSON object");
  add_text(*doctor, "--html", command->html, "FILE", "also write a page to attach to a ticket");
  CLI::Option* root =
      add_text(*doctor, "--root", command->common.root, "DIR", "read this tree instead of the host's /")
          ->excludes(from);
  add_fabric(*doctor, command->fabric)->excludes(from)->excludes(root);
  add_text(*doctor, "--config-dir", command->config_directory, "DIR",
           "rules and tables of your own, in place of built-in ones");
  add_colour(*doctor, command->colour);
  doctor->callback([=, &action = dispatch.action] {
    action = [=] {
      take_texts(*texts, *command);
      return run_doctor(*command);
    };
  });
}

}  // namespace rocetune::cli
