#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {

std::vector<TextFixture> switch_text_fixtures() { return {}; }

}  // namespace rocetune::diagnose
