#include "tools/rocetune/doctor.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/counters/deltas.h"
#include "agent/counters/live_readers.h"
#include "agent/counters/record.h"
#include "agent/diagnose/engine.h"
#include "agent/diagnose/report_json.h"
#include "agent/diagnose/report_text.h"
#include "agent/diagnose/rule_text.h"
#include "agent/host/host_reader.h"
#include "agent/virtual_host/counter_readers.h"
#include "agent/virtual_host/host_facts.h"
#include "dataplane/base/clock.h"
#include "dataplane/base/file.h"
#include "dataplane/tap/capture_analysis.h"
#include "dataplane/tap/report.h"
#include "tools/rocetune/affinity.h"
#include "tools/rocetune/confirmed_state.h"
#include "tools/rocetune/intent.h"

namespace rocetune::cli {
namespace {

constexpr Bytes kHostFileLimit{64 << 20};
constexpr int kWidestReport = 120;

// What is judged, and where it came from.
struct Subject {
  std::optional<host::Host> host;  // nothing: only captures
  std::optional<counters::Interval> interval;
  std::vector<diagnose::Capture> captures;
  std::vector<diagnose::Input> inputs;
};

std::optional<std::string> name_or_nothing(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(name);
}

// A host as `inspect --json` printed it.
Expected<Subject> read_saved_host(const std::string& path) {
  const auto text = read_file(path, kHostFileLimit);
  if (!text) return tl::unexpected(text.error().within("--from"));
  auto host = host::host_from_json(*text, path);
  if (!host) return tl::unexpected(host.error());
  if (host->name.empty() && host->kernel.empty() && host->ports.empty()) {
    return fail(ErrorKind::bad_input,
                "{}: found JSON without a host, allowed: what rocetune inspect --json prints", path);
  }
  Subject out;
  out.inputs = {{path, "rocetune-host", name_or_nothing(host->name), std::nullopt}};
  out.host = std::move(*host);
  return out;
}

// From the first to the last reading of a record made by `watch --record`.
Expected<counters::Interval> read_recorded_interval(const std::string& path, const counters::Schema& schema) {
  std::optional<counters::Reading> first, last;
  const auto outcome = counters::read_record(path, schema, [&](const counters::Reading& reading) {
    (first ? last : first) = reading;
    return true;
  });
  if (!outcome) return tl::unexpected(outcome.error());
  if (!last)
    return fail(ErrorKind::bad_input, "{}: found fewer than two readings, allowed: two or more", path);
  return counters::interval_between(schema, *first, *last);
}

counters::Interval sample_live(const Subject& subject, const std::string& root, Duration watch_for,
                               const counters::Schema& schema) {
  SystemClock clock;
  const host::HostFiles files(root);
  counters::LiveSockets sockets(files);
  counters::Sampler sampler(schema, counters::live_readers(*subject.host, files, sockets, clock), clock);
  const counters::Reading before = sampler.read();
  clock.sleep_for(counters::Sampler::effective_interval(watch_for, before));
  return counters::interval_between(schema, before, sampler.read());
}

Expected<Subject> read_live_host(const DoctorCommand& command, const host::NicTable& nics,
                                 const counters::Schema& schema) {
  auto host = host::read_host({.root = command.common.root}, nics);
  if (!host) return tl::unexpected(host.error());
  add_affinity(command.common.root, *host);
  add_confirmed_state(command.common.root, *host);
  Subject out;
  out.inputs = {{"", "live-host", name_or_nothing(host->name), std::nullopt}};
  out.host = std::move(*host);
  if (*command.watch_for > Duration(0)) {
    out.interval = sample_live(out, command.common.root, *command.watch_for, schema);
  }
  return out;
}

Expected<Subject> read_fabric_host(const DoctorCommand& command, const counters::Schema& schema) {
  const auto fabric = open_fabric_host(command.fabric);
  if (!fabric) return tl::unexpected(fabric.error());
  virtual_host::FabricRun& run = *fabric->run;
  Subject out;
  out.host = virtual_host::host_facts(run, fabric->id);
  out.inputs = {{command.fabric.scenario, "virtual-host", out.host->name, std::nullopt}};
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

// A capture file, or what `tap --json` printed of one or of a port.
Expected<> add_capture(Subject& subject, const std::string& path, const tap::ObserverOptions& options) {
  const auto file = tap::MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const wire::ConstBytes bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool is_report = text.substr(0, text.find_first_not_of(" \t\r\n") + 1).ends_with('{');
  auto facts = is_report ? tap::facts_from_report(text, path) : tap::analyse_capture(bytes, path, options);
  if (!facts) return tl::unexpected(facts.error());
  subject.captures.push_back({path.substr(path.find_last_of('/') + 1), std::move(*facts)});
  subject.inputs.push_back({path, is_report ? "rocetune-tap" : "capture", std::nullopt, std::nullopt});
  return {};
}

bool is_capture(const std::string& path) {
  const auto file = tap::MappedFile::open(path);
  return file && tap::CaptureReader::is_capture(file->bytes());
}

Expected<Subject> read_host(const DoctorCommand& command, const ConfigFiles& configs,
                            const host::NicTable& nics) {
  const auto schema = counters::Schema::load(configs);
  if (!schema) return tl::unexpected(schema.error());
  auto subject = command.fabric.is_given() ? read_fabric_host(command, *schema)
                 : command.from.empty()    ? read_live_host(command, nics, *schema)
                                           : read_saved_host(command.from);
  if (!subject || command.recording.empty()) return subject;
  auto interval = read_recorded_interval(command.recording, *schema);
  if (!interval) return tl::unexpected(interval.error());
  subject->interval = std::move(*interval);
  subject->inputs.push_back({command.recording, "rocetune-counters", std::nullopt, std::nullopt});
  return subject;
}

Expected<Subject> read_subject(const DoctorCommand& command, const ConfigFiles& configs,
                               const host::NicTable& nics, const diagnose::Policy& policy) {
  std::vector<std::string> captures = command.captures;
  Expected<Subject> subject{tl::in_place};
  if (!command.from.empty() && is_capture(command.from)) {
    if (!command.recording.empty() || !command.ports.empty()) {
      return fail(ErrorKind::bad_input, "--from: {} is a capture: it has no {}", command.from,
                  command.recording.empty() ? "ports" : "counters");
    }
    captures.insert(captures.begin(), command.from);
  } else {
    subject = read_host(command, configs, nics);
  }
  tap::ObserverOptions options{.link_speed = command.link_speed};
  options.storm.detection = policy.storm_detection;
  for (const std::string& path : captures) {
    if (!subject) break;
    if (auto added = add_capture(*subject, path, options); !added) return tl::unexpected(added.error());
  }
  return subject;
}

diagnose::FactTable facts_of(const Subject& subject, const std::string& host_origin) {
  diagnose::FactTable facts;
  if (subject.host) facts = diagnose::facts_of(*subject.host, host_origin);
  for (const diagnose::Capture& capture : subject.captures) {
    for (const tap::FactValue& fact : tap::fact_values(capture.facts))
      facts[fact.name + "@" + capture.file] = fact.value();
  }
  return facts;
}

// Every port asked for must be there.
Expected<> check_ports(const host::Host& host, const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  std::string list;
  for (const host::Port& port : host.ports) {
    names.push_back(port.name);
    list += (list.empty() ? "" : ", ") + port.name;
  }
  std::vector<InputIssue> issues;
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    issues.push_back({.place = {},
                      .key = "--port",
                      .found = name,
                      .allowed = list.empty() ? "nothing: the host has no ports" : list,
                      .nearest = nearest_name(name, names)});
  }
  if (issues.empty()) return {};
  return tl::unexpected(bad_input(issues));
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
  const auto configs = command.config_directory.empty()
                           ? Expected<ConfigFiles>(ConfigFiles())
                           : ConfigFiles::with_directory(command.config_directory);
  if (!configs) return complain(configs.error());
  const auto nics = host::NicTable::load(*configs);
  if (!nics) return complain(nics.error());
  const auto policy = diagnose::load_policy(*configs, *nics);
  if (!policy) return complain(policy.error());
  const auto intent = read_intent(command, *configs, *nics);
  if (!intent) return complain(intent.error());
  const auto subject = read_subject(command, *configs, *nics, *policy);
  if (!subject) return complain(subject.error());
  if (subject->host) {
    if (auto known = check_ports(*subject->host, command.ports); !known) return complain(known.error());
  }
  std::vector<diagnose::JudgedHost> hosts;
  if (subject->host) hosts.push_back({&*subject->host, subject->interval ? &*subject->interval : nullptr});
  const diagnose::Report report =
      diagnose::diagnose({hosts, *intent, *policy, command.ports, subject->captures});
  if (command.common.json) {
    const std::string& origin = command.from.empty() && subject->host ? subject->host->name : command.from;
    print(to_json_text(report, subject->inputs, facts_of(*subject, origin)));
  } else {
    print(to_text(report, look_of(command)));
  }
  return command.fail_on && report.has_finding_at_least(*command.fail_on) ? ExitCode::findings
                                                                          : ExitCode::fine;
}

}  // namespace rocetune::cli
