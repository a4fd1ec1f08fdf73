// The class map of a switch that fits a profile, or that fits what a host really has.
#pragma once

#include "agent/diagnose/policy.h"
#include "agent/evidence/switches/switch_plan.h"
#include "agent/host/model.h"
#include "agent/tune/profile.h"
#include "tools/rocetune/fabric_host.h"

namespace rocetune::cli {

// What neither a profile nor a host can say of a switch.
struct SwitchChoices {
  std::vector<std::string> ports;
  // Marking of the lossless queues. Origin of the defaults: what `nv set qos roce` sets on Cumulus Linux;
  // thresholds scale with speed and buffer, so they are a start.
  Bytes mark_from{150'000}, mark_all{1'500'000};
  int mark_percent = 100;
  // Origin: SONiC's default; above the stall prevention of NICs (PFC-4).
  Duration storm_after = milliseconds(200);
};

// Queues are the profile's traffic classes. MTU is what switches are usually set to, at least the profile's.
evidence::SwitchPlan switch_plan_of(const tune::Profile& profile, const SwitchChoices& choices,
                                    evidence::SwitchWriter writer);

// The class map of a host's RoCE ports as a profile: trust, DSCPs, priorities, PFC, traffic classes and
// shares. Only what was read counts. Errors: bad_input if no RoCE port shows a class, PFC or traffic classes,
// or if its ports differ.
Expected<tune::Profile> profile_of_host(const host::Host& host, const std::vector<std::string>& ports,
                                        const diagnose::Policy& policy);

// What judges a class: configs/nics and configs/rules.toml, of a folder before the built-in ones.
struct ClassTables {
  ConfigFiles files;
  host::NicTable nics;
  diagnose::Policy policy;
};

Expected<ClassTables> load_class_tables(const std::string& directory);

// Where a host's facts come from: a scenario's host, a saved one, or this machine.
struct HostOrigin {
  std::string root = "/";
  std::string from;                       // empty: not a saved one
  const FabricOptions* fabric = nullptr;  // given: a host of the virtual fabric
};
Expected<host::Host> host_of(const HostOrigin& origin, const host::NicTable& nics);

}  // namespace rocetune::cli
