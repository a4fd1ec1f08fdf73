// A simulation as people write it: a TOML file that says who is connected how, what switches and hosts do,
// and who sends what to whom. docs/fabric-model.md explains every key.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/base/toml_settings.h"
#include "dataplane/fabric/lesson.h"
#include "dataplane/fabric/network.h"
#include "dataplane/fabric/traffic.h"

namespace rocetune::fabric {

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
};

// Error: bad_input with every issue of the file. `settings` are put over the text.
Expected<Scenario> scenario_from_toml(std::string_view text, const std::string& file,
                                      const std::vector<TomlSetting>& settings = {});

// The same scenario with another seed: what is random in its traffic is drawn anew.
void reseed(Scenario& scenario, std::uint64_t seed);

}  // namespace rocetune::fabric
