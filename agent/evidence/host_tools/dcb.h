// Objects of the `dcb` tool (iproute2): pfc, ets, app, buffer, maxrate, dcbx, as text, as JSON, one alone or
// several in a file, with or without their command lines. One object is the format "dcb-pfc" and so on,
// several are "dcb".
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format dcb_format();

}  // namespace rocetune::evidence
