#include "agent/evidence/rdma_tools/formats.h"

namespace rocetune::evidence {

std::span<const Format> rdma_tool_formats() { return {}; }

}  // namespace rocetune::evidence
