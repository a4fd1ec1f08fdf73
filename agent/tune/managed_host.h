// All that a transaction needs from the world: the host it changes, a clock, a pause, counters. The live one
// is the kernel; tests put a host of their own behind it that fails, lies, bounces and dies on demand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "agent/host/knob_writer.h"
#include "agent/host/model.h"
#include "agent/tune/record.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

class ManagedHost {
 public:
  virtual ~ManagedHost() = default;

  virtual Moment now() = 0;
  virtual void sleep(Duration span) = 0;
  // Somebody asked this process to stop: what is under way is undone.
  virtual bool stop_requested() = 0;

  // Everything, read anew: for planning and guardrails.
  virtual Expected<host::Host> observe() = 0;
  // At least these ports with their knobs, and the bonds: for reading back. A port that has gone is missing.
  virtual Expected<host::Host> look(const std::vector<std::string>& ports) = 0;
  // At least the name and link of these ports, and the bonds: for waiting.
  virtual Expected<host::Host> look_at_links(const std::vector<std::string>& ports) = 0;
  // Counters over `span`, which passes meanwhile.
  virtual Expected<counters::Interval> measure(Duration span) = 0;
  virtual host::KnobWriter& writer() = 0;
};

}  // namespace rocetune::tune
