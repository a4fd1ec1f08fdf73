// Where the facts of a host that was put together from texts stand: by the sources that rules name, the
// files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/evidence/document.h"

namespace rocetune::diagnose {

// source::kPfc -> "hostB.dcb.txt:3, hostB.pfc.json".
using ToldBy = std::map<std::string, std::string>;
ToldBy told_by(const std::vector<const evidence::Document*>& documents);

}  // namespace rocetune::diagnose
