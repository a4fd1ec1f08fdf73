#include "agent/evidence/switches/formats.h"

namespace rocetune::evidence {

std::span<const Format> switch_formats() { return {}; }

}  // namespace rocetune::evidence
