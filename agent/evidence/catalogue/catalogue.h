// The table of all formats, in the order in which they are asked: what is unmistakable first.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> all_formats();

}  // namespace rocetune::evidence
