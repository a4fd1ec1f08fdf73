// The table of all formats, in the order in which they are asked: what is unmistakable first.
#pragma once

#include "agent/evidence/format_table.h"

namespace rocetune::evidence {

const FormatTable& all_formats();

}  // namespace rocetune::evidence
