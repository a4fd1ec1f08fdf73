// Moments of a test's own clock.
#pragma once

#include "congestion/units.h"

namespace rocetune {

inline Instant at(std::int64_t us) { return Instant(microseconds(us)); }

}  // namespace rocetune
