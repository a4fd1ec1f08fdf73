// Ports that hold each other in a circle, drawn as one.
#pragma once

#include <string>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

constexpr std::size_t kMostInRing = 12;  // ports; longer circles are listed
std::string deadlock_section(const fabric::Deadlock& deadlock);

}  // namespace rocetune::report
