// Configurations of EOS and NX-OS, whose grammars have the same shape: class maps, policy maps, profiles,
// interfaces. Blocks are told by their keywords, so that lost indentation does no harm. Content:
// SwitchEvidence, all of it settings.
#pragma once

#include "agent/evidence/format.h"

namespace rocetune::evidence {

Format mqc_config_format();

}  // namespace rocetune::evidence
