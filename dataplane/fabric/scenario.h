// A simulation as people write it: a TOML file that says who is connected how, what switches and hosts do,
// and who sends what to whom. docs/fabric-model.md explains every key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dataplane/base/toml_settings.h"
#include "dataplane/fabric/lesson.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/traffic.h"

namespace rocetune::fabric {

// The traffic that stands in [[flows]] and [[jobs]] of the file itself.
inline constexpr std::string_view kOwnWorkload = "default";

struct Scenario {
  std::string name;
  std::string description;
  std::uint64_t seed = 1;
  Duration limit = seconds(1);  // of virtual time: the run ends here if flows are not finished
  Duration warm_up;             // queues are watched from here on
  Topology topology;
  NetworkOptions options;
  std::vector<Flow> flows;       // made of:
  std::vector<Traffic> traffic;  // a [[flows]] table each
  std::vector<Job> jobs;
  std::vector<LessonPoint> lesson;  // what it is there to show
  // Which traffic this is: kOwnWorkload is what the file itself says, others are its [[workloads]].
  std::string workload{kOwnWorkload};
  std::vector<std::string> workloads;  // the names of those
};

// Error: bad_input with every issue of the file. `settings` are put over the text. The key `workload` chooses
// one of [[workloads]], and its traffic stands in place of the file's own. [tune] is left to who tunes.
Expected<Scenario> scenario_from_toml(std::string_view text, const std::string& file,
                                      const std::vector<TomlSetting>& settings = {});

// Ethernet, IP, UDP, BTH, RETH or AETH, immediate, ICRC, and what is around a frame: at most.
inline constexpr Bytes kAroundPayload{128};

// By switch: what reserves and headrooms of its ports take of its buffer.
std::vector<Bytes> reserved_of_switches(const Scenario& scenario);
// What headrooms and reserves have to be for the buffers of switches and NICs to hold them all; `file` names
// the scenario in the issue.
std::optional<InputIssue> buffers_issue(const Scenario& scenario, const std::string& file);

// The same scenario with another seed: what is random in its traffic is drawn anew.
void reseed(Scenario& scenario, std::uint64_t seed);

}  // namespace rocetune::fabric
