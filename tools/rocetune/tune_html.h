// What a tuning of a fabric has to say on the page of agent/report.
#pragma once

#include <string>

#include "agent/tune/fabric_plant/tuning.h"

namespace rocetune::cli {

std::string tuning_page(const fabric_plant::FabricTuning& tuning, const fabric_plant::FabricPlant& plant);

}  // namespace rocetune::cli
