// What `rocetune tune` says of hosts: before, so that a person can say yes, and after, the verdict first.
#pragma once

#include <string>

#include "agent/tune/host_plant/tuning.h"
#include "dataplane/base/text_table.h"
#include "tools/rocetune/tune.h"

namespace rocetune::cli {

// What is going to be changed on whom, what that interrupts, and how it is undone.
std::string consent_text(const tune::HostPlant& plant, const TuneCommand& command);
// `of_twin`: what a twin has to say; empty: there was none.
std::string tuning_text(const tune::HostTuning& tuning, const tune::HostPlant& plant,
                        const TextTable::Look& look, const std::string& of_twin);
// --dry-run.
std::string space_text(const tune::HostPlant& plant, const TextTable::Look& look);

}  // namespace rocetune::cli
