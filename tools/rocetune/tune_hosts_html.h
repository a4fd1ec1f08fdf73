// What a tuning of hosts has to say on the page of agent/report.
#pragma once

#include <optional>
#include <string>

#include "agent/report/tune_page.h"
#include "agent/tune/host_plant/tuning.h"
#include "agent/tune/search/policy.h"

namespace rocetune::cli {

std::string tuning_page(const tune::HostTuning& tuning, const tune::HostPlant& plant,
                        const search::Policy& policy, std::optional<report::TuneTwin> twin);

}  // namespace rocetune::cli
