// The tables of SONiC's config_db as a switch. Fields that are out of range are as if they were not there.
#pragma once

#include <boost/json/fwd.hpp>

#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {

SwitchModel switch_of_tables(const boost::json::object& tables);

}  // namespace rocetune::evidence
