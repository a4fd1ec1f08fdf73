// How a twin is made: of a scenario's file and the facts of hosts.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "agent/tune/fabric_plant/limits.h"
#include "agent/tune/fabric_plant/tune_table.h"
#include "agent/tune/twin/twin.h"

namespace rocetune::twin {
namespace {

using fabric::Scenario;

constexpr double kMostDelays = 50;  // of the file's
constexpr Duration kLongestDelay = milliseconds(2);
constexpr double kLeastLoad = 0.1;      // of the file's
constexpr double kMostOfBuffer = 0.95;  // ECN thresholds

// What a variable of a job's environment does to the twin's traffic.
struct Variable {
  const char* name;
  const char* knob;
  double over;  // its value over this is the knob's
};
constexpr Variable kVariables[] = {
    {"NCCL_IB_QPS_PER_CONNECTION", "workload.queue_pairs", 1},
    {"NCCL_BUFFSIZE", "workload.message", 4},  // a buffer is sent in quarters (NCCL, NCCL_STEPS / 2)
};

void add_note(std::vector<Note>& notes, Note note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// A parameter of switches, with the range of its knob, and for thresholds up to the buffer: what is found may
// be further off than what is worth a search.
TwinUnknown of_knob(const fabric_plant::FabricKnob& knob, std::vector<Quantity> rests_on, double most) {
  const bool is_logarithmic = knob.knob.scale == search::Scale::logarithmic;
  return {.unknown = {.name = knob.knob.name,
                      .unit = knob.knob.unit,
                      .start = knob.knob.start,
                      .min = knob.knob.start > 0 || !is_logarithmic ? std::min(knob.knob.min, knob.knob.start)
                                                                    : knob.knob.min,
                      .max = std::max({knob.knob.max, most, knob.knob.start}),
                      .is_logarithmic = is_logarithmic,
                      .step = knob.knob.step},
          .rests_on = std::move(rests_on),
          .write = knob.write};
}

}  // namespace

Expected<Twin> Twin::open(std::string_view text, const std::string& file, const tune::HostSpace& hosts,
                          const std::vector<std::string>& workloads, const ConfigFiles& configs) {
  auto schema = counters::Schema::load(configs);
  if (!schema) return tl::unexpected(schema.error());
  Twin out;
  out.schema_ = std::move(*schema);
  out.hosts_ = &hosts;
  out.file_ = file;
  out.text_ = text;
  if (auto read = out.read(text, file, workloads); !read) return tl::unexpected(read.error());
  out.place_ports();
  out.take_over();
  out.find_unknowns();
  out.find_knobs();
  return out;
}

Expected<> Twin::read(std::string_view text, const std::string& file,
                      const std::vector<std::string>& workloads) {
  auto own = fabric::scenario_from_toml(text, file);
  if (!own) return tl::unexpected(own.error());
  if (own->options.switches.ingress.flow_control == fabric::FlowControl::credits) {
    return fail(ErrorKind::bad_input,
                "{}: found link = \"infiniband\", allowed: \"ethernet\": hosts are tuned as RoCE", file);
  }
  const auto table = fabric_plant::tune_table_from_toml(text, file, {}, fabric_plant::workload_names(*own));
  if (!table) return tl::unexpected(table.error());
  jitter_ = table->jitter;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    if (w >= table->workloads.size()) {
      not_predicted_.push_back({workloads[w], fmt::format("{} has no workload for it", file)});
      continue;
    }
    const std::string& name = table->workloads[w];
    auto scenario = fabric_plant::under_workload(*own, text, file, {}, name);
    if (!scenario) return tl::unexpected(scenario.error());
    workloads_.push_back({workloads[w], name});
    runs_.push_back(fabric_plant::with_own_parts(std::move(*scenario)));
  }
  for (std::size_t w = workloads.size(); w < table->workloads.size(); ++w)
    not_predicted_.push_back(
        {file + ": workload " + table->workloads[w], "the hosts have no workload for it"});
  return {};
}

// Ports, in the order of --host and --port, are the first hosts of the scenario.
void Twin::place_ports() {
  const std::uint32_t ends = runs_.front().topology.end_hosts();
  const std::vector<BitRate> rates = fabric::host_rates_of(runs_.front().topology);
  const auto& hosts = hosts_->hosts();
  fabric::NodeId id = 0;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    for (const std::string& port : hosts[h].ports) {
      const std::string name = hosts[h].host.name + " " + port;
      if (id >= ends) {
        not_predicted_.push_back({name, fmt::format("{} has {} hosts", file_, ends)});
        continue;
      }
      const auto& link = hosts[h].host.find_port(port)->link;
      if (link && link->speed && *link->speed != rates[id]) {
        not_taken_over_.push_back({name, fmt::format("runs at {}, h{} of {} at {}", to_text(*link->speed), id,
                                                     file_, to_text(rates[id]))});
      }
      ports_.push_back({h, hosts[h].host.name, port, id++});
    }
  }
}

// All hosts of the scenario are as the hosts are; those that nobody tunes as the tuned ones, in turn.
void Twin::take_over() {
  for (Scenario& scenario : runs_) {
    for (fabric::NodeId id = 0; id < scenario.topology.end_hosts(); ++id) {
      const TwinPort& port = ports_[id % ports_.size()];
      const host::Host& host = hosts_->hosts()[port.host].host;
      for (Note& note : give_all(scenario, id, host, *host.find_port(port.port)))
        add_note(not_taken_over_, std::move(note));
    }
  }
}

void Twin::find_unknowns() {
  const bool has_flows =
      std::ranges::any_of(runs_, [](const Scenario& scenario) { return !scenario.traffic.empty(); });
  const fabric_plant::KnobTable table = fabric_plant::knobs_of(runs_.front(), file_, has_flows);
  const auto find = [&](std::string_view name) -> const fabric_plant::FabricKnob* {
    const auto found =
        std::ranges::find_if(table.knobs, [&](const auto& knob) { return knob.knob.name == name; });
    return found == table.knobs.end() ? nullptr : &*found;
  };
  for (const Variable& variable : kVariables) {
    const fabric_plant::FabricKnob* knob = find(variable.knob);
    if (knob != nullptr) workload_knobs_.emplace(variable.name, WorkloadKnob{*knob, variable.over});
  }
  const double buffer =
      std::floor(static_cast<double>(runs_.front().options.switches.ingress.buffer.count()) * kMostOfBuffer);
  const std::vector<Quantity> marks{Quantity::ce_ratio, Quantity::cnp_ratio};
  for (const char* name : {"switches.kmin", "switches.kmax"})
    unknowns_.push_back(of_knob(*find(name), marks, buffer));
  unknowns_.push_back(of_knob(*find("switches.pmax"), marks, 0));
  unknowns_.push_back(of_knob(*find("switches.alpha_exponent"), {Quantity::pause_received}, 0));

  Duration longest;
  for (const fabric::LinkSpec& link : runs_.front().topology.links) longest = std::max(longest, link.delay);
  if (longest > Duration(0)) {
    const double most = std::min(kMostDelays, kLongestDelay.seconds() / longest.seconds());
    unknowns_.push_back({.unknown = {.name = "topology.delay",
                                     .unit = "times the file's",
                                     .start = 1,
                                     .min = 0.1,
                                     .max = std::max(most, 2.0),
                                     .is_logarithmic = true,
                                     .step = 0},
                         .rests_on = {Quantity::latency, Quantity::p99_fct},
                         .write = [](Scenario& s, double factor) {
                           for (fabric::LinkSpec& link : s.topology.links) {
                             link.delay = std::max(
                                 Duration(std::llround(static_cast<double>(link.delay.count()) * factor)),
                                 nanoseconds(1));
                           }
                         }});
  }
  Ratio load;
  for (const Scenario& scenario : runs_) {
    for (const fabric::Traffic& traffic : scenario.traffic) load = std::max(load, traffic.load);
  }
  if (!load.is_zero()) {
    unknowns_.push_back({.unknown = {.name = "flows.load",
                                     .unit = "times the file's",
                                     .start = 1,
                                     .min = kLeastLoad,
                                     .max = std::max(1.01, 1 / load.value()),
                                     .is_logarithmic = true,
                                     .step = 0},
                         .rests_on = {Quantity::goodput, Quantity::busbw},
                         .write = [](Scenario& s, double factor) {
                           for (fabric::Traffic& traffic : s.traffic) {
                             traffic.load =
                                 Ratio(std::llround(static_cast<double>(traffic.load.count()) * factor));
                           }
                         }});
  }
}

// What the hosts' own plans for the candidate give the hosts of the scenario.
Expected<std::vector<Twin::Given>> Twin::given_by(const search::Candidate& candidate) const {
  std::vector<Given> out;
  for (std::size_t h = 0; h < hosts_->hosts().size(); ++h) {
    const auto plan = hosts_->plan(candidate, h, 0);
    if (!plan) return tl::unexpected(plan.error());
    for (const tune::Step& step : plan->steps) {
      for (const tune::Change& change : step.changes) {
        for (const TwinPort& port : ports_) {
          if (port.host == h && port.port == change.knob.port)
            out.push_back({port.id, change.knob, change.after});
        }
      }
    }
  }
  return out;
}

// Whether the candidate changes the twin, and in what.
bool Twin::add_counterparts(const search::Candidate& candidate, std::set<std::string>& counterparts) const {
  const Scenario before = bones_of(hosts_->space().start(), {}), after = bones_of(candidate, {});
  const std::size_t known = counterparts.size();
  bool is_changed = false;
  for (const TwinPort& port : ports_) {
    for (std::string& name : differences(before, after, port.id)) {
      counterparts.insert(std::move(name));
      is_changed = true;
    }
  }
  return is_changed || counterparts.size() > known;
}

// A knob that is a number gives all that it turns that number.
void Twin::learn_numbers(std::size_t k) {
  const search::Space& space = hosts_->space();
  const search::Knob& knob = space[k];
  TwinKnob out{.knob = k, .counterpart = {}, .values = {}};
  std::set<std::string> counterparts;
  for (const double position : {0.0, 1.0}) {
    const double value = knob.at_position(position);
    if (value == knob.start) continue;
    const search::Candidate candidate = space.with(space.start(), {{k, value}});
    auto given = given_by(candidate);
    const bool is_plain = given && std::ranges::all_of(*given, [&](const Given& one) {
                            const auto* number = std::get_if<std::int64_t>(&one.value);
                            return number != nullptr && static_cast<double>(*number) == value;
                          });
    if (!is_plain) {
      not_predicted_.push_back(
          {knob.name, given ? "is not the number that its hosts get" : given.error().text()});
      given_.erase({k, 0});
      return;
    }
    given_[{k, 0}] = std::move(*given);
    add_counterparts(candidate, counterparts);
  }
  if (counterparts.empty()) {
    not_predicted_.push_back({knob.name, "nothing of the twin changes with it"});
    return;
  }
  out.counterpart = joined(counterparts);
  knobs_.push_back(std::move(out));
}

void Twin::learn_choices(std::size_t k) {
  const search::Space& space = hosts_->space();
  const search::Knob& knob = space[k];
  TwinKnob out{.knob = k, .counterpart = {}, .values = {knob.start}};
  std::set<std::string> counterparts;
  std::string mute;
  const auto variable = knob.name.starts_with("workload.")
                            ? workload_knobs_.find(knob.name.substr(knob.name.find('.') + 1))
                            : workload_knobs_.end();
  for (std::size_t choice = 0; choice < static_cast<std::size_t>(knob.count()); ++choice) {
    const auto value = static_cast<double>(choice);
    if (value == knob.start) continue;
    bool is_meant = false;
    if (variable != workload_knobs_.end()) {
      is_meant = variable->second.value_of(knob.choices[choice]).has_value();
      if (is_meant) counterparts.insert(variable->second.knob.knob.name);
    } else {
      const search::Candidate candidate = space.with(space.start(), {{k, value}});
      auto given = given_by(candidate);
      if (given) given_[{k, value}] = std::move(*given);
      is_meant = add_counterparts(candidate, counterparts);
    }
    if (is_meant) {
      out.values.push_back(value);
    } else {
      mute += (mute.empty() ? "" : ", ") + knob.text(value);
    }
  }
  if (out.values.size() < 2) {
    not_predicted_.push_back({knob.name, "nothing of the twin changes with it"});
    return;
  }
  if (!mute.empty())
    not_predicted_.push_back({knob.name + " = " + mute, "means the same to the twin as what is there"});
  out.counterpart = joined(counterparts);
  knobs_.push_back(std::move(out));
}

// A knob is foretold if turning it changes the twin.
void Twin::find_knobs() {
  bones_ = runs_.front();
  bones_.flows.clear();
  bones_.traffic.clear();
  bones_.jobs.clear();
  for (std::size_t k = 0; k < hosts_->space().size(); ++k)
    hosts_->space()[k].is_numeric() ? learn_numbers(k) : learn_choices(k);
}

}  // namespace rocetune::twin
