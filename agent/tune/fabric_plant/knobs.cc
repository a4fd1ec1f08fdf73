#include "agent/tune/fabric_plant/knobs.h"

#include <algorithm>

namespace rocetune::fabric_plant {
namespace {

using fabric::HostParameters;
using fabric::Scenario;
using fabric::SwitchParameters;

// Those of `count` that deviate in no such field.
template <class Fields>
std::vector<std::uint32_t> usual_ones(std::uint32_t count, const std::vector<Deviation>& deviations,
                                      const Fields& fields, std::string_view field) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t member = 0; member < count; ++member) {
    const bool deviates = std::ranges::any_of(
        deviations, [&](const Deviation& d) { return fields[d.field].name == field && d.contains(member); });
    if (!deviates) out.push_back(member);
  }
  return out;
}

}  // namespace

KnobTableMaker::KnobTableMaker(const Scenario& scenario, std::string file)
    : scenario_(scenario),
      file_(std::move(file)),
      host_deviations_(fabric_plant::host_deviations(scenario)),
      switch_deviations_(fabric_plant::switch_deviations(scenario)) {}

std::vector<std::uint32_t> KnobTableMaker::usual_hosts(std::string_view field) const {
  return usual_ones(scenario_.topology.end_hosts(), host_deviations_, host_fields(), field);
}
std::vector<std::uint32_t> KnobTableMaker::usual_switches(std::string_view field) const {
  return usual_ones(scenario_.topology.switches, switch_deviations_, switch_fields(), field);
}
const HostParameters& KnobTableMaker::usual_host(std::string_view field) const {
  return scenario_.options.own_host.at(usual_hosts(field).front());
}
const SwitchParameters& KnobTableMaker::usual_switch(std::string_view field) const {
  return scenario_.options.own_switch.at(usual_switches(field).front());
}

std::string KnobTableMaker::origin(std::string_view key) const {
  return fmt::format("{}: {}, or what it is without", file_, key);
}

void KnobTableMaker::add(FabricKnob knob) { table_.knobs.push_back(std::move(knob)); }
void KnobTableMaker::leave_out(std::string knob, std::string why) {
  table_.left_out.push_back({std::move(knob), std::move(why)});
}

// Knobs outlive the maker: they keep what they need of it.
void KnobTableMaker::add_host_number(search::Knob knob, std::string_view field, const OfHost& of,
                                     const ToHost& to) {
  const std::uint32_t usual = usual_hosts(field).front();
  knob.start = of(scenario_.options.own_host.at(usual));
  knob.start_origin = origin(knob.name);
  FabricKnob out{.knob = std::move(knob), .place = Place::hosts, .read = {}, .write = {}};
  out.read = [usual, of](const Scenario& s) { return of(s.options.own_host.at(usual)); };
  out.write = [members = usual_hosts(field), to](Scenario& s, double value) {
    to(s.options.host, value);
    for (const std::uint32_t id : members) to(s.options.own_host.at(id), value);
  };
  add(std::move(out));
}

void KnobTableMaker::add_switch_number(search::Knob knob, std::string_view field, const OfSwitch& of,
                                       const ToSwitch& to) {
  const std::uint32_t usual = usual_switches(field).front();
  knob.start = of(scenario_.options.own_switch.at(usual));
  knob.start_origin = origin(knob.name);
  FabricKnob out{.knob = std::move(knob), .place = Place::switches, .read = {}, .write = {}};
  out.read = [usual, of](const Scenario& s) { return of(s.options.own_switch.at(usual)); };
  out.write = [members = usual_switches(field), to](Scenario& s, double value) {
    to(s.options.switches, value);
    for (const std::uint32_t index : members) to(s.options.own_switch.at(index), value);
    for (fabric::Fault& fault : s.options.faults) {
      if (fault.kind == fabric::Fault::Kind::switch_classes) to(fault.classes, value);
    }
  };
  add(std::move(out));
}

void KnobTableMaker::add_choice(search::Knob knob, Place place, std::vector<Choice> choices,
                                const TextOf& text_of, const std::string& why_none) {
  const std::string found = text_of(scenario_);
  if (std::ranges::find(choices, found, &Choice::text) == choices.end())
    choices.insert(choices.begin(), {found, [](Scenario&) {}});
  if (choices.size() < 2) return leave_out(knob.name, why_none);
  knob.kind = search::KnobKind::categorical;
  for (const Choice& choice : choices) knob.choices.push_back(choice.text);
  knob.start_origin = origin(knob.name);
  FabricKnob out{.knob = std::move(knob), .place = place, .read = {}, .write = {}};
  out.read = [texts = out.knob.choices, text_of](const Scenario& s) {
    const auto choice = std::ranges::find(texts, text_of(s));
    return choice == texts.end() ? kUnknownValue : static_cast<double>(choice - texts.begin());
  };
  out.knob.start = out.read(scenario_);
  out.write = [choices = std::move(choices)](Scenario& s, double value) {
    choices.at(static_cast<std::size_t>(value)).set(s);
  };
  add(std::move(out));
}

namespace {

// "as found" or "as the others". `parts_of`: the parts of a scenario by number.
template <class Part, class PartsOf>
FabricKnob deviation_knob(const Deviation& deviation, const Field<Part>& field, std::string name,
                          const Part& found, const Part& usual, const PartsOf& parts_of) {
  FabricKnob out;
  out.knob.name = std::move(name);
  out.knob.meaning = field.meaning;
  out.knob.kind = search::KnobKind::categorical;
  const auto label = [&](const Part& part, const Part& beside) {
    return field.text_beside ? field.text_beside(part, beside) : field.text(part);
  };
  out.knob.choices = {"as found: " + label(found, usual), "as the others: " + label(usual, found)};
  out.knob.cost = field.cost;
  out.read = [deviation, &field, parts_of](const Scenario& s) {
    const auto& parts = parts_of(s);
    double value = kUnknownValue;
    const std::string others = field.text(parts.at(deviation.usual));
    for (const std::uint32_t member : deviation.members) {
      const std::string text = field.text(parts.at(member));
      const double of_this = text == others ? 1 : text == deviation.as_found ? 0 : kUnknownValue;
      if (member != deviation.members.front() && of_this != value) return kUnknownValue;
      value = of_this;
    }
    return value;
  };
  out.write = [deviation, &field, parts_of](Scenario& s, double value) {
    if (value != 1) return;
    auto& parts = parts_of(s);
    for (const std::uint32_t member : deviation.members)
      field.copy(parts.at(member), parts.at(deviation.usual));
    if constexpr (std::is_same_v<Part, SwitchParameters>) {
      // What an event makes of the switch has the setting, unless the event says it itself.
      for (fabric::Fault& fault : s.options.faults) {
        if (fault.kind == fabric::Fault::Kind::switch_classes && deviation.contains(fault.switch_index) &&
            field.text(fault.classes) == deviation.as_found)
          field.copy(fault.classes, parts.at(deviation.usual));
      }
    }
  };
  return out;
}

}  // namespace

void add_deviation_knobs(KnobTableMaker& maker) {
  const auto hosts_of = [](auto& s) -> auto& { return s.options.own_host; };
  for (const Deviation& deviation : maker.host_deviations()) {
    const HostField& field = host_fields()[deviation.field];
    const std::string members = hosts_text(deviation.members);
    FabricKnob knob = deviation_knob(deviation, field, members + "." + field.name,
                                     maker.scenario().options.own_host.at(deviation.members.front()),
                                     maker.scenario().options.own_host.at(deviation.usual), hosts_of);
    knob.place = Place::hosts;
    knob.knob.start_origin = maker.origin("hosts.own of " + members);
    maker.add(std::move(knob));
  }
  const auto switches_of = [](auto& s) -> auto& { return s.options.own_switch; };
  for (const Deviation& deviation : maker.switch_deviations()) {
    const SwitchField& field = switch_fields()[deviation.field];
    const std::string members = switches_text(deviation.members);
    FabricKnob knob = deviation_knob(deviation, field, members + "." + field.name,
                                     maker.scenario().options.own_switch.at(deviation.members.front()),
                                     maker.scenario().options.own_switch.at(deviation.usual), switches_of);
    knob.place = Place::switches;
    knob.knob.start_origin = maker.origin("switches.own of " + members);
    maker.add(std::move(knob));
  }
}

KnobTable knobs_of(const Scenario& scenario, const std::string& file, bool is_any_flow) {
  KnobTableMaker maker(scenario, file);
  // Whether there is PFC, and DCQCN, decides which of the others do anything: they come first.
  add_class_knobs(maker);
  add_ets_knobs(maker);
  add_host_knobs(maker);
  add_switch_knobs(maker);
  add_dcqcn_knobs(maker);
  add_workload_knobs(maker, is_any_flow);
  add_deviation_knobs(maker);
  return maker.take();
}

}  // namespace rocetune::fabric_plant
