// What `rocetune tune` prints for people: the verdict first.
#pragma once

#include <string>

#include "agent/tune/fabric_plant/tuning.h"
#include "dataplane/base/text_table.h"

namespace rocetune::cli {

std::string tuning_text(const fabric_plant::FabricTuning& tuning, const fabric_plant::FabricPlant& plant,
                        const TextTable::Look& look);
// --dry-run.
std::string space_text(const fabric_plant::FabricPlant& plant, const TextTable::Look& look);

}  // namespace rocetune::cli
