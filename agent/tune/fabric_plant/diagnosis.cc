#include "agent/tune/fabric_plant/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "agent/counters/deltas.h"
#include "agent/counters/sampler.h"
#include "agent/diagnose/engine.h"
#include "agent/tune/fabric_plant/constraints.h"
#include "agent/virtual_host/counter_readers.h"
#include "agent/virtual_host/host_facts.h"
#include "agent/virtual_host/scenario_knobs.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::NodeId;
using fabric::Scenario;
using search::Setting;

// The same finding of several hosts.
struct HostGroup {
  diagnose::Finding finding;  // of the first one
  std::vector<NodeId> hosts;
};

// What makes two findings the same: rule and what is to be done.
std::string key_of(const diagnose::Finding& finding) {
  std::string out = finding.rule + "\n" + finding.subject + "\n";
  if (finding.fix.changes.empty()) return out + finding.fix.text;
  for (const diagnose::Change& change : finding.fix.changes)
    out += host::to_text(change.knob) + "=" + host::to_text(change.after) + "\n";
  return out;
}

// A host that pauses its switch cannot take what arrives, whatever anybody sets.
bool is_slow_receiver(const diagnose::Finding& finding) {
  return (finding.rule == "PFC-5" || finding.rule == "PFC-6") &&
         std::ranges::any_of(finding.evidence,
                             [](const diagnose::Evidence& e) { return e.name.starts_with("tx_pause"); });
}

Expected<std::vector<HostGroup>> judge_hosts(const Scenario& scenario, const ConfigFiles& configs,
                                             const std::stop_token& stop) {
  const auto schema = counters::Schema::load(configs);
  if (!schema) return tl::unexpected(schema.error());
  const auto nics = host::NicTable::load(configs);
  if (!nics) return tl::unexpected(nics.error());
  const auto policy = diagnose::load_policy(configs, *nics);
  if (!policy) return tl::unexpected(policy.error());
  virtual_host::FabricRun run(scenario);
  const virtual_host::VirtualClock clock(run);
  std::vector<std::unique_ptr<counters::Sampler>> samplers;
  std::vector<counters::Reading> before;
  std::vector<host::Host> facts;
  for (NodeId id = 0; id < scenario.topology.end_hosts(); ++id) {
    facts.push_back(virtual_host::host_facts(run, id));
    samplers.push_back(
        std::make_unique<counters::Sampler>(*schema, virtual_host::counter_readers(run, id), clock));
    before.push_back(samplers.back()->read());
  }
  run.finish(stop);
  if (stop.stop_requested()) return fail(ErrorKind::conflict, "stopped");
  std::vector<HostGroup> out;
  for (NodeId id = 0; id < scenario.topology.end_hosts(); ++id) {
    const counters::Interval interval = counters::interval_between(*schema, before[id], samplers[id]->read());
    const diagnose::JudgedHost judged[] = {{&facts[id], &interval}};
    const diagnose::Report report = diagnose::diagnose({judged, diagnose::Intent{}, *policy, {}, {}});
    for (const diagnose::Finding& finding : report.findings) {
      if (finding.severity == diagnose::Severity::info) continue;
      const auto same = std::ranges::find_if(
          out, [&](const HostGroup& group) { return key_of(group.finding) == key_of(finding); });
      if (same != out.end()) {
        same->hosts.push_back(id);
      } else {
        out.push_back({finding, {id}});
      }
    }
  }
  return out;
}

class Remedies {
 public:
  Remedies(const Scenario& scenario, const std::vector<FabricKnob>& knobs, const search::Space& space)
      : scenario_(scenario), knobs_(knobs), space_(space) {}

  // The fix of a finding as settings of this space.
  Expected<std::vector<Setting>> of(const HostGroup& group) const {
    if (group.finding.fix.changes.empty()) return fail(ErrorKind::unsupported, "{}", group.finding.fix.text);
    Scenario changed = scenario_;
    const virtual_host::FabricRun run(scenario_);
    for (const NodeId id : group.hosts) {
      const host::Host facts = virtual_host::host_facts(run, id);
      std::vector<host::KnobWrite> batch;
      for (const diagnose::Change& change : group.finding.fix.changes)
        batch.push_back({change.knob, change.before, change.after});
      virtual_host::ScenarioKnobs writer(changed, id);
      if (auto written = writer.write(facts.ports.front(), batch); !written)
        return tl::unexpected(written.error());
    }
    std::vector<Setting> settings;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const double value = knobs_[i].read(changed);
      if (std::isnan(value) || value == space_[i].start) continue;
      settings.push_back({i, space_[i].nearest_safe(value)});
    }
    if (reaches(settings, changed, group.hosts)) return settings;
    settings = like_the_others(changed, group.hosts);
    if (reaches(settings, changed, group.hosts)) return settings;
    return fail(ErrorKind::unsupported, "no setting of this space does what the fix says");
  }

 private:
  // Everything that the fix changes is changed by the settings, too.
  bool reaches(const std::vector<Setting>& settings, const Scenario& fixed,
               const std::vector<NodeId>& hosts) const {
    Scenario changed = scenario_;
    write(knobs_, space_, space_.with(space_.start(), settings), changed);
    return !settings.empty() && std::ranges::all_of(hosts, [&](NodeId id) {
      return std::ranges::all_of(host_fields(), [&](const HostField& field) {
        const std::string found = field.text(scenario_.options.own_host.at(id));
        return field.text(fixed.options.own_host.at(id)) == found ||
               field.text(changed.options.own_host.at(id)) != found;
      });
    });
  }
  // The deviations of these hosts in what the fix changes, taken back.
  std::vector<Setting> like_the_others(const Scenario& fixed, const std::vector<NodeId>& hosts) const {
    std::vector<Setting> out;
    for (const Deviation& deviation : host_deviations(scenario_)) {
      const HostField& field = host_fields()[deviation.field];
      const bool is_meant = std::ranges::any_of(hosts, [&](NodeId id) {
        return deviation.contains(id) &&
               field.text(fixed.options.own_host.at(id)) != field.text(scenario_.options.own_host.at(id));
      });
      if (!is_meant) continue;
      if (const auto knob = space_.find(hosts_text(deviation.members) + "." + field.name))
        out.push_back({*knob, 1});
    }
    return out;
  }

  const Scenario& scenario_;
  const std::vector<FabricKnob>& knobs_;
  const search::Space& space_;
};

// Whoever is set up otherwise than the others, if no rule has said so.
void add_deviations(const std::vector<Deviation>& deviations, bool are_hosts, const search::Space& space,
                    std::vector<FabricFinding>& out) {
  for (const Deviation& deviation : deviations) {
    const std::string members = are_hosts ? hosts_text(deviation.members) : switches_text(deviation.members);
    const std::string& field =
        are_hosts ? host_fields()[deviation.field].name : switch_fields()[deviation.field].name;
    const auto knob = space.find(members + "." + field);
    if (!knob) continue;
    const bool is_said = std::ranges::any_of(out, [&](const FabricFinding& finding) {
      return std::ranges::find(finding.settings, Setting{*knob, 1}) != finding.settings.end();
    });
    if (is_said) continue;
    const std::string_view found(space[*knob].choices[0]);
    const std::string_view others(space[*knob].choices[1]);
    out.push_back({.rule = "SAME-1",
                   .severity = diagnose::Severity::warning,
                   .where = members,
                   .cause = fmt::format("{} differs from most others in {}", members, field),
                   .fix = "As the others have it",
                   .evidence = {{field, std::string(found), "", "the fabric"},
                                {field, std::string(others), "", "the fabric"}},
                   .settings = {{*knob, 1}},
                   .why_no_settings = {}});
  }
}

}  // namespace

Expected<FabricDiagnosis> diagnose_fabric(const Scenario& scenario, const std::vector<FabricKnob>& knobs,
                                          const search::Space& space, const ConfigFiles& configs,
                                          const std::stop_token& stop) {
  const auto groups = judge_hosts(scenario, configs, stop);
  if (!groups) return tl::unexpected(groups.error());
  FabricDiagnosis out{.findings = switch_findings(scenario, knobs, space)};
  const Remedies remedies(scenario, knobs, space);
  for (const HostGroup& group : *groups) {
    FabricFinding finding{.rule = group.finding.rule,
                          .severity = group.finding.severity,
                          .where = hosts_text(group.hosts),
                          .cause = group.finding.cause,
                          .fix = group.finding.fix.text,
                          .evidence = group.finding.evidence,
                          .settings = {},
                          .why_no_settings = {}};
    auto settings = remedies.of(group);
    if (settings) {
      finding.settings = std::move(*settings);
    } else {
      finding.why_no_settings = settings.error().text();
      finding.is_hardware = is_slow_receiver(group.finding);
    }
    out.findings.push_back(std::move(finding));
  }
  add_deviations(host_deviations(scenario), true, space, out.findings);
  add_deviations(switch_deviations(scenario), false, space, out.findings);
  std::ranges::stable_sort(out.findings, std::ranges::greater(), &FabricFinding::severity);
  return out;
}

}  // namespace rocetune::fabric_plant
