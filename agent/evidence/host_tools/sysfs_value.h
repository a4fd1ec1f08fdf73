// The content of one file of sysfs or configfs: "Global tclass=106", "PATH:VALUE", or what follows `cat
// PATH`.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format sysfs_value_format();

}  // namespace rocetune::evidence
