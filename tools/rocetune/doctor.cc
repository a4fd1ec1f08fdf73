#include "tools/rocetune/doctor.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/counters/deltas.h"
#include "agent/counters/live_readers.h"
#include "agent/diagnose/engine.h"
#include "agent/diagnose/report_json.h"
#include "agent/diagnose/report_page.h"
#include "agent/diagnose/report_text.h"
#include "agent/diagnose/rule_text.h"
#include "agent/virtual_host/counter_readers.h"
#include "agent/virtual_host/host_facts.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/durable.h"
#include "dataplane/tap/report.h"
#include "tools/rocetune/handed_over.h"
#include "tools/rocetune/intent.h"
#include "tools/rocetune/this_host.h"

namespace rocetune::cli {
namespace {

constexpr int kWidestReport = 120;

// A host by itself, in place of what was handed over.
HandedHost looked_at(host::Host host) {
  std::string name = host.name;
  return {.host = std::move(host), .interval = {}, .origin = std::move(name), .told_by = {}};
}

counters::Interval sample_live(const host::Host& host, const std::string& root, Duration watch_for,
                               const counters::Schema& schema) {
  SystemClock clock;
  const host::HostFiles files(root);
  counters::LiveSockets sockets(files);
  counters::Sampler sampler(schema, counters::live_readers(host, files, sockets, clock), clock);
  const counters::Reading before = sampler.read();
  clock.sleep_for(counters::Sampler::effective_interval(watch_for, before));
  return counters::interval_between(schema, before, sampler.read());
}

Expected<HandedHost> read_live_host(const DoctorCommand& command, const host::NicTable& nics,
                                    const counters::Schema& schema) {
  auto host = read_this_host({.root = command.common.root}, nics);
  if (!host) return tl::unexpected(host.error());
  HandedHost out = looked_at(std::move(*host));
  if (*command.watch_for > Duration(0)) {
    out.interval = sample_live(out.host, command.common.root, *command.watch_for, schema);
  }
  return out;
}

Expected<HandedHost> read_fabric_host(const DoctorCommand& command, const counters::Schema& schema) {
  const auto fabric = open_fabric_host(command.fabric);
  if (!fabric) return tl::unexpected(fabric.error());
  virtual_host::FabricRun& run = *fabric->run;
  HandedHost out = looked_at(virtual_host::host_facts(run, fabric->id));
  if (command.watch_for == Duration(0)) return out;
  const virtual_host::VirtualClock clock(run);
  counters::Sampler sampler(schema, virtual_host::counter_readers(run, fabric->id), clock);
  const counters::Reading before = sampler.read();
  if (command.watch_for) {
    run.advance_to(run.now() + *command.watch_for);
  } else {
    run.finish();
  }
  out.interval = counters::interval_between(schema, before, sampler.read());
  return out;
}

Expected<HandedOver> read_subject(const DoctorCommand& command, const ConfigFiles& configs,
                                  const host::NicTable& nics, const diagnose::Policy& policy) {
  const auto schema = counters::Schema::load(configs);
  if (!schema) return tl::unexpected(schema.error());
  tap::ObserverOptions options{.link_speed = command.link_speed};
  options.storm.detection = policy.storm_detection;
  HandedOver subject;
  if (command.from.empty()) {
    auto looked = command.fabric.is_given() ? read_fabric_host(command, *schema)
                                            : read_live_host(command, nics, *schema);
    if (!looked) return tl::unexpected(looked.error());
    subject.add(std::move(*looked), command.fabric.is_given()
                                        ? diagnose::Input{command.fabric.scenario, "virtual-host", {}, {}}
                                        : diagnose::Input{"", "live-host", {}, {}});
  }
  auto handed = read_handed_over(std::move(subject),
                                 {command.from, command.captures, command.recording, command.explain_inputs},
                                 options, *schema);
  if (!handed) return handed;
  for (HandedHost& one : handed->hosts) host::name_nics(one.host, nics);
  return handed;
}

diagnose::FactTable facts_of(const HandedOver& subject) {
  diagnose::FactTable facts;
  for (const HandedHost& handed : subject.hosts) {
    if (!handed.origin.empty()) facts.merge(diagnose::facts_of(handed.host, handed.origin));
  }
  for (const diagnose::Capture& capture : subject.captures) {
    for (const tap::FactValue& fact : tap::fact_values(capture.facts))
      facts[fact.name + "@" + capture.file] = fact.value();
  }
  for (evidence::Fact& fact : subject.dossier.facts()) facts.try_emplace(std::move(fact.name), fact.value);
  return facts;
}

// Every port asked for must be there.
Expected<> check_ports(const std::vector<HandedHost>& hosts, const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const HandedHost& handed : hosts) {
    for (const host::Port& port : handed.host.ports) {
      if (std::ranges::find(names, port.name) == names.end()) names.push_back(port.name);
    }
  }
  return check_names("--port", wanted, names, "nothing: there is no port");
}

Expected<diagnose::Intent> read_intent(const DoctorCommand& command, const ConfigFiles& configs,
                                       const host::NicTable& nics) {
  if (command.profile.empty()) return command.declared;
  const auto profile = tune::load_profile(command.profile, configs, nics);
  if (!profile) return tl::unexpected(profile.error());
  return completed(command.declared, intent_of(*profile));
}

diagnose::ReportLook look_of(const DoctorCommand& command) {
  diagnose::ReportLook look;
  if (is_terminal(STDOUT_FILENO)) look.width = std::clamp(terminal_width(STDOUT_FILENO), 40, kWidestReport);
  look.coloured = uses_colour(command.colour, STDOUT_FILENO);
  look.list_passed = command.list_passed;
  return look;
}

ExitCode explain(const std::string& id, bool json) {
  if (id == "all" && !json) {
    print(diagnose::rules_markdown());
    return ExitCode::fine;
  }
  const auto text = json ? diagnose::explain_json(id) : diagnose::explain(id);
  if (!text) return complain(text.error());
  print(*text);
  return ExitCode::fine;
}

}  // namespace

ExitCode run_doctor(const DoctorCommand& command) {
  if (!command.explain.empty()) return explain(command.explain, command.common.json);
  const auto configs = ConfigFiles::with_directory(command.config_directory);
  if (!configs) return complain(configs.error());
  const auto nics = host::NicTable::load(*configs);
  if (!nics) return complain(nics.error());
  const auto policy = diagnose::load_policy(*configs, *nics);
  if (!policy) return complain(policy.error());
  const auto intent = read_intent(command, *configs, *nics);
  if (!intent) return complain(intent.error());
  const auto subject = read_subject(command, *configs, *nics, *policy);
  if (!subject) return complain(subject.error());
  if (auto known = check_ports(subject->hosts, command.ports); !known) return complain(known.error());
  std::vector<diagnose::JudgedHost> hosts;
  for (const HandedHost& handed : subject->hosts) {
    hosts.push_back(
        {&handed.host, handed.interval ? &*handed.interval : nullptr, handed.is_told, handed.told_by});
  }
  // Texts, or several hosts to be compared.
  const bool is_compared = !subject->dossier.files().empty() || hosts.size() > 1;
  const diagnose::Report report =
      diagnose::diagnose({hosts, *intent, *policy, command.ports, subject->captures,
                          is_compared ? &subject->dossier : nullptr, subject->counted});
  const diagnose::FactTable facts = facts_of(*subject);
  if (!command.html.empty()) {
    const std::string page = diagnose::report_page(
        {report, subject->inputs, facts, utc_text(SystemClock().unix_ns()).substr(0, 19) + "Z"});
    if (auto written = write_atomically(command.html, page); !written) return complain(written.error());
  }
  if (command.common.json) {
    print(to_json_text(report, subject->inputs, facts));
  } else {
    if (command.explain_inputs) print(explain_inputs(*subject) + "\n");
    print(to_text(report, look_of(command)));
  }
  return command.fail_on && report.has_finding_at_least(*command.fail_on) ? ExitCode::findings
                                                                          : ExitCode::fine;
}

}  // namespace rocetune::cli
