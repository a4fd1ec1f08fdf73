#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {

std::vector<TextFixture> rdma_tool_text_fixtures() { return {}; }

}  // namespace rocetune::diagnose
