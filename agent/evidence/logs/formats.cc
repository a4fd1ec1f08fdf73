#include "agent/evidence/logs/formats.h"

namespace rocetune::evidence {

std::span<const Format> log_formats() { return {}; }

}  // namespace rocetune::evidence
