// What may be turned on a fabric: for every knob what the search has to know of it, and how it is read from
// and written to a scenario.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "agent/tune/fabric_plant/fields.h"
#include "agent/tune/search/plant.h"

namespace rocetune::fabric_plant {

// Where a knob is turned: what an operator has to log in to.
enum class Place { switches, hosts, classes, workload };

struct FabricKnob {
  search::Knob knob;
  Place place = Place::switches;
  // Not a number: the scenario has a value that the knob does not know.
  std::function<double(const fabric::Scenario&)> read;
  std::function<void(fabric::Scenario&, double)> write;
};

using search::LeftOut;

struct KnobTable {
  std::vector<FabricKnob> knobs;
  std::vector<LeftOut> left_out;
};

// `scenario` is with_own_parts, `file` names it in origins. The knobs of all switches, all hosts and the
// workload come first: they leave those alone that deviate (fields.h). Each deviation is a knob of its own
// with the choices "as found" and "as the others", which is what the others have by then: so knobs are to be
// written in their order. `is_any_flow`: some workload has [[flows]].
KnobTable knobs_of(const fabric::Scenario& scenario, const std::string& file, bool is_any_flow);

inline constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();

// Used by the files that make the table.
class KnobTableMaker {
 public:
  KnobTableMaker(const fabric::Scenario& scenario, std::string file);

  const fabric::Scenario& scenario() const { return scenario_; }
  // Some host and switch that has the setting as most do, and all of them.
  const fabric::HostParameters& usual_host(std::string_view field = {}) const;
  const fabric::SwitchParameters& usual_switch(std::string_view field = {}) const;
  std::vector<std::uint32_t> usual_hosts(std::string_view field) const;
  std::vector<std::uint32_t> usual_switches(std::string_view field) const;

  // A number of all hosts, or all switches. `field` is the one of fields.h that it is part of; none: no part
  // can have it otherwise. name, range, cost and standard of `knob` are given, the rest is filled in.
  using OfHost = std::function<double(const fabric::HostParameters&)>;
  using ToHost = std::function<void(fabric::HostParameters&, double)>;
  void add_host_number(search::Knob knob, std::string_view field, const OfHost& of, const ToHost& to);
  using OfSwitch = std::function<double(const fabric::SwitchParameters&)>;
  using ToSwitch = std::function<void(fabric::SwitchParameters&, double)>;
  void add_switch_number(search::Knob knob, std::string_view field, const OfSwitch& of, const ToSwitch& to);

  // One of several settings, each with its text. What the scenario has is among the choices in any case. A
  // knob without a choice is left out, and `why_none` says why.
  struct Choice {
    std::string text;
    std::function<void(fabric::Scenario&)> set;
  };
  using TextOf = std::function<std::string(const fabric::Scenario&)>;
  void add_choice(search::Knob knob, Place place, std::vector<Choice> choices, const TextOf& text_of,
                  const std::string& why_none);

  void add(FabricKnob knob);
  void leave_out(std::string knob, std::string why);

  const std::vector<Deviation>& host_deviations() const { return host_deviations_; }
  const std::vector<Deviation>& switch_deviations() const { return switch_deviations_; }
  std::string origin(std::string_view key) const;
  KnobTable take() { return std::move(table_); }

 private:
  const fabric::Scenario& scenario_;
  std::string file_;
  std::vector<Deviation> host_deviations_;
  std::vector<Deviation> switch_deviations_;
  KnobTable table_;
};

void add_switch_knobs(KnobTableMaker& maker);
void add_class_knobs(KnobTableMaker& maker);
void add_ets_knobs(KnobTableMaker& maker);
void add_host_knobs(KnobTableMaker& maker);
void add_dcqcn_knobs(KnobTableMaker& maker);
void add_workload_knobs(KnobTableMaker& maker, bool is_any_flow);
void add_deviation_knobs(KnobTableMaker& maker);

}  // namespace rocetune::fabric_plant
