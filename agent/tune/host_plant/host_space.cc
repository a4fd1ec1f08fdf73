#include "agent/tune/host_plant/host_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agent/tune/guardrails.h"
#include "agent/tune/planner.h"
#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

constexpr const char* kProfileKnob = "class.profile";
constexpr const char* kMtuKnob = "mtu";
constexpr const char* kAsFound = "as_found";
const std::string kFixPrefix = "fix.";
constexpr std::string_view kParameterPrefix = "cc.";
// The two whose order DCQCN needs, as mlx5 calls them (drivers/infiniband/hw/mlx5/cong.c).
constexpr const char* kAlphaTimer = "cc.rp_dce_tcp_rtt";
constexpr const char* kCnpGap = "cc.np_min_time_between_cnps";

// Units of parameters that say how hard congestion control acts; others (DSCPs, priorities, flags) are the
// class map's.
constexpr std::array<std::string_view, 7> kTunableUnits{"us",      "Mbps",    "MBps",  "bytes",
                                                        "percent", "per1024", "number"};

// Doctor's fixes that are the same on several hosts or ports are one.
std::string key_of(const diagnose::Finding& finding) {
  std::string out = finding.rule;
  for (const diagnose::Change& change : finding.fix.changes) {
    out += fmt::format("|{}/{}={}", enum_name(change.knob.kind), change.knob.parameter,
                       host::to_text(change.knob, change.after));
  }
  return out;
}

}  // namespace

Parsed<VariedVariable> parse_varied(std::string_view text) {
  const std::string allowed = "NAME=VALUE,VALUE[,...], like NCCL_IB_QPS_PER_CONNECTION=1,2,4";
  const auto equals = text.find('=');
  VariedVariable out;
  if (equals == std::string_view::npos) return tl::unexpected(UnitError{std::string(text), allowed});
  out.name = text.substr(0, equals);
  const bool is_name = !out.name.empty() && std::isdigit(static_cast<unsigned char>(out.name[0])) == 0 &&
                       std::all_of(out.name.begin(), out.name.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  for (std::string_view rest = text.substr(equals + 1);;) {
    const auto comma = rest.find(',');
    out.values.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const std::set<std::string> different(out.values.begin(), out.values.end());
  if (!is_name || out.values.size() < 2 || different.size() != out.values.size()) {
    return tl::unexpected(UnitError{std::string(text), allowed + ", at least two different values"});
  }
  return out;
}

Expected<HostSpaceLimits> load_host_space_limits(const ConfigFiles& files) {
  const auto file = files.read("tune/hosts.toml");
  if (!file) return tl::unexpected(file.error());
  HostSpaceLimits out;
  return read_toml(file->text, file->name,
                   [&](TableReader& top) {
                     top.required("mtus", out.mtus);
                     top.required("safe_factor", out.safe_factor, between(1.0, 1024.0));
                     top.required("profiles", out.profiles);
                   })
      .map([&] { return out; });
}

Expected<HostSpace> HostSpace::make(std::vector<FoundHost> hosts, const std::vector<VariedVariable>& varied,
                                    const HostSpaceLimits& limits, const ConfigFiles& files,
                                    Limits guardrails, const std::vector<std::string>& allow) {
  HostSpace out(std::move(hosts), std::move(guardrails), allow);
  out.add_profiles(limits, files);
  out.add_fixes();
  out.add_mtu(limits);
  out.add_parameters(limits);
  out.add_variables(varied);
  if (out.knobs_.empty()) {
    std::string why;
    for (const search::LeftOut& knob : out.left_out_) why += fmt::format("; {}: {}", knob.knob, knob.why);
    return fail(ErrorKind::bad_input, "nothing can be turned on these hosts{}", why);
  }
  auto space = search::Space::of(out.knobs_);
  if (!space) return tl::unexpected(space.error());
  out.space_ = std::move(*space);
  out.add_constraints();
  out.suggest();
  return out;
}

bool HostSpace::is_possible(const std::string& knob, std::size_t host, const Expected<Plan>& plan,
                            search::ChangeCost& cost) {
  const host::Host& found = hosts_[host].host;
  std::string why;
  if (!plan) {
    why = plan.error().text();
  } else {
    const Observed<counters::Interval> unseen = not_read();  // traffic is looked at when it matters, by apply
    for (const Refusal& refusal : uncovered(refusals({found, *plan, unseen, guardrails_}), allow_)) {
      if (refusal.consent != "rdma-traffic") why += (why.empty() ? "" : "; ") + to_text(refusal);
    }
  }
  if (!why.empty()) {
    left_out_.push_back({knob, hosts_.size() > 1 ? found.name + ": " + why : why});
    return false;
  }
  cost = std::max(cost, cost_of(*plan));
  return true;
}

void HostSpace::add(search::Knob knob, Turned turned) {
  knobs_.push_back(std::move(knob));
  turned_.push_back(std::move(turned));
}

std::vector<std::pair<std::size_t, const host::Port*>> HostSpace::all_ports() const {
  std::vector<std::pair<std::size_t, const host::Port*>> out;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    for (const std::string& name : hosts_[h].ports) out.emplace_back(h, hosts_[h].host.find_port(name));
  }
  return out;
}

void HostSpace::add_profiles(const HostSpaceLimits& limits, const ConfigFiles& files) {
  search::Knob knob;
  knob.name = kProfileKnob;
  knob.meaning = "class map, PFC, ETS and buffers of all hosts";
  knob.kind = search::KnobKind::categorical;
  knob.choices = {kAsFound};
  knob.start_origin = "as found on the hosts";
  for (const std::string& name : limits.profiles) {
    const std::string called = fmt::format("{} {}", kProfileKnob, name);
    auto profile = load_profile(name, files, nics());
    if (!profile) {
      left_out_.push_back({called, profile.error().text()});
      continue;
    }
    bool is_good = true;
    bool changes_something = false;
    for (std::size_t h = 0; h < hosts_.size() && is_good; ++h) {
      const auto plan = make_plan(hosts_[h].host, *profile, nics(), hosts_[h].ports, 0);
      is_good = is_possible(called, h, plan, knob.cost);
      changes_something |= is_good && !plan->is_empty();
    }
    if (!is_good) continue;
    if (!changes_something) {
      left_out_.push_back({called, "in force already"});
      continue;
    }
    knob.choices.push_back(name);
    profiles_.push_back(std::move(*profile));
  }
  if (knob.choices.size() > 1) add(std::move(knob), {.what = Turned::What::profile, .fix = {}, .name = {}});
}

void HostSpace::add_fixes() {
  std::vector<std::string> keys;
  std::vector<Turned> fixes;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const std::vector<std::string>& ports = hosts_[h].ports;
    for (const diagnose::Finding& finding : hosts_[h].findings) {
      if (finding.fix.changes.empty() || finding.severity == diagnose::Severity::info) continue;
      const bool is_ours = std::ranges::all_of(finding.fix.changes, [&](const diagnose::Change& change) {
        return std::ranges::find(ports, change.knob.port) != ports.end();
      });
      if (!is_ours) {
        left_out_.push_back({kFixPrefix + finding.rule, finding.subject + ": not a port that is tuned"});
        continue;
      }
      const std::string key = key_of(finding);
      const auto at = static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
      if (at == keys.size()) {
        keys.push_back(key);
        fixes.push_back({.what = Turned::What::fix, .fix = {{}, finding.rule, finding.cause}, .name = {}});
      }
      for (const diagnose::Change& change : finding.fix.changes)
        fixes[at].fix.changes.emplace_back(h, change);
    }
  }
  std::map<std::string, int> of_rule;
  for (Turned& fix : fixes) {
    search::Knob knob;
    const int number = ++of_rule[fix.fix.rule];
    knob.name = kFixPrefix + fix.fix.rule + (number == 1 ? "" : fmt::format(".{}", number));
    knob.meaning = fix.fix.why;
    knob.kind = search::KnobKind::toggle;
    knob.start_origin = "not made yet";
    bool is_good = true;
    for (std::size_t h = 0; h < hosts_.size() && is_good; ++h) {
      std::vector<WantedSetting> wanted;
      for (const auto& [of, change] : fix.fix.changes) {
        if (of == h) wanted.push_back({change.knob, change.after, fix.fix.rule, ""});
      }
      is_good = is_possible(knob.name, h, settings_plan(hosts_[h].host, wanted, kTunePlanName, nics(), 0),
                            knob.cost);
    }
    if (!is_good) continue;
    // A class map as a whole replaces what single fixes mend.
    if (!knobs_.empty() && knobs_.front().name == kProfileKnob) knob.lives_while = {0, {0.0}};
    add(std::move(knob), std::move(fix));
  }
}

void HostSpace::add_mtu(const HostSpaceLimits& limits) {
  std::optional<Bytes> start;
  Bytes largest{1 << 20};
  for (const auto& [h, port] : all_ports()) {
    if (port->bond) {
      left_out_.push_back({kMtuKnob, port->name + " has it from " + *port->bond});
      return;
    }
    if (start && port->mtu != *start) {
      left_out_.push_back(
          {kMtuKnob, fmt::format("ports differ ({} and {})", to_text(*start), to_text(port->mtu))});
      return;
    }
    start = port->mtu;
    if (port->max_mtu) largest = std::min(largest, *port->max_mtu);
  }
  if (!start || *start <= Bytes(0)) return;
  search::Knob knob;
  knob.name = kMtuKnob;
  knob.meaning = "MTU of all tuned ports; the RDMA MTU follows. Switches must carry it";
  knob.kind = search::KnobKind::categorical;
  knob.start_origin = "as found on the hosts";
  std::vector<Bytes> values = limits.mtus;
  values.push_back(*start);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (const Bytes value : values) {
    if (value > largest) continue;
    if (value == *start) knob.start = static_cast<double>(knob.choices.size());
    knob.choices.push_back(std::to_string(value.count()));
  }
  if (knob.choices.size() < 2) return;
  knob.cost = search::ChangeCost::restarts_job;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    std::vector<WantedSetting> wanted;
    for (const std::string& port : hosts_[h].ports) {
      const std::int64_t other = std::stoll(knob.choices[knob.start == 0 ? 1 : 0]);
      wanted.push_back({{port, host::KnobKind::mtu, ""}, other, "", ""});
    }
    if (!is_possible(kMtuKnob, h, settings_plan(hosts_[h].host, wanted, kTunePlanName, nics(), 0), knob.cost))
      return;
  }
  add(std::move(knob), {.what = Turned::What::mtu, .fix = {}, .name = {}});
}

void HostSpace::add_parameters(const HostSpaceLimits& limits) {
  const auto ports = all_ports();
  if (ports.empty()) return;
  const host::Port& first = *ports.front().second;
  if (!first.cc_params) {
    left_out_.push_back({"cc.*", first.cc_params.error().why});
    return;
  }
  const host::NicRow& row = nics().named(first.nic);
  for (const host::CcParameter& parameter : row.cc.parameters) {
    if (std::find(kTunableUnits.begin(), kTunableUnits.end(), parameter.unit) == kTunableUnits.end())
      continue;
    std::optional<std::int64_t> start;
    std::string why;
    for (const auto& [h, port] : ports) {
      if (port->nic != first.nic) why = "NICs differ";
      if (!port->cc_params || !port->cc_params->contains(parameter.name)) {
        why = "not on every port";
        continue;
      }
      if (port->congestion_control && *port->congestion_control != host::CongestionControl::dcqcn) {
        why = "another algorithm steers this NIC (ECN-5)";
      }
      const std::int64_t value = port->cc_params->at(parameter.name);
      if (start && value != *start) why = "ports differ";
      start = value;
    }
    if (!start || !why.empty()) {
      if (start) left_out_.push_back({std::string(kParameterPrefix) + parameter.name, why});
      continue;
    }
    const double around = static_cast<double>(parameter.default_value.value_or(*start));
    if (around <= 0) {
      left_out_.push_back({std::string(kParameterPrefix) + parameter.name,
                           "0 is a mode of its own, and how far from it is safe nobody says"});
      continue;
    }
    search::Knob knob;
    knob.name = std::string(kParameterPrefix) + parameter.name;
    knob.meaning = parameter.role;
    knob.kind = search::KnobKind::numeric;
    knob.min = static_cast<double>(parameter.min);
    knob.max = static_cast<double>(parameter.max);
    knob.step = 1;
    knob.unit = parameter.unit == "number" ? "" : parameter.unit;
    if (parameter.min > 0) knob.scale = search::Scale::logarithmic;
    knob.start = static_cast<double>(*start);
    knob.start_origin = "as found on the hosts";
    knob.safe_min = std::max(knob.min, std::floor(around / limits.safe_factor));
    knob.safe_max = std::min(knob.max, std::ceil(around * limits.safe_factor));
    if (parameter.default_value) {
      knob.standard = static_cast<double>(*parameter.default_value);
      knob.standard_origin = row.cc.origin;
    }
    bool is_good = true;
    for (std::size_t h = 0; h < hosts_.size() && is_good; ++h) {
      const std::int64_t other = *start == parameter.min ? parameter.max : parameter.min;
      const host::Knob target{hosts_[h].ports.front(), host::KnobKind::cc_param, parameter.name};
      is_good = is_possible(
          knob.name, h, settings_plan(hosts_[h].host, {{target, other, "", ""}}, kTunePlanName, nics(), 0),
          knob.cost);
    }
    if (is_good) add(std::move(knob), {.what = Turned::What::parameter, .fix = {}, .name = parameter.name});
  }
}

void HostSpace::add_variables(const std::vector<VariedVariable>& varied) {
  for (const VariedVariable& variable : varied) {
    search::Knob knob;
    knob.name = "workload." + variable.name;
    knob.meaning = "environment variable of the workload";
    knob.kind = search::KnobKind::categorical;
    knob.choices = variable.values;
    knob.cost = search::ChangeCost::restarts_job;
    knob.start_origin = "--vary: the first";
    add(std::move(knob), {.what = Turned::What::variable, .fix = {}, .name = variable.name});
  }
}

void HostSpace::add_constraints() {
  const auto alpha = space_.find(kAlphaTimer), gap = space_.find(kCnpGap);
  if (!alpha || !gap) return;
  search::Constraint constraint;
  constraint.id = "alpha-timer-above-cnp-gap";
  constraint.rule = "alpha update timer > time between two CNPs";
  constraint.origin =
      "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 5: alpha "
      "must not decay between the CNPs of one congestion";
  constraint.knobs = {*alpha, *gap};
  constraint.broken = [alpha = *alpha, gap = *gap](const search::Candidate& c) -> std::optional<std::string> {
    if (c.values[alpha] > c.values[gap]) return std::nullopt;
    return fmt::format("alpha timer {} us, CNPs {} us apart", c.values[alpha], c.values[gap]);
  };
  constraints_.push_back(std::move(constraint));
}

void HostSpace::suggest() {
  for (std::size_t k = 0; k < turned_.size(); ++k) {
    if (turned_[k].what != Turned::What::fix) continue;
    suggestions_.push_back({search::Suggestion::Kind::remedy,
                            knobs_[k].name.substr(kFixPrefix.size()),
                            turned_[k].fix.why,
                            {{k, 1.0}}});
  }
  if (const auto profile = space_.find(kProfileKnob)) {
    for (std::size_t choice = 1; choice < knobs_[*profile].choices.size(); ++choice) {
      suggestions_.push_back({search::Suggestion::Kind::preset,
                              knobs_[*profile].choices[choice],
                              "a class map of configs/profiles",
                              {{*profile, static_cast<double>(choice)}}});
    }
  }
}

}  // namespace rocetune::tune
