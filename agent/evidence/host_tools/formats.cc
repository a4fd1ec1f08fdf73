#include "agent/evidence/host_tools/formats.h"

namespace rocetune::evidence {

std::span<const Format> host_tool_formats() { return {}; }

}  // namespace rocetune::evidence
