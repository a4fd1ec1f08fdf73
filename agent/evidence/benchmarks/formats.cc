#include "agent/evidence/benchmarks/formats.h"

namespace rocetune::evidence {

std::span<const Format> benchmark_formats() { return {}; }

}  // namespace rocetune::evidence
