// From a profile (what `plan` would set up) to the intent that `doctor` judges a host against.
#pragma once

#include "agent/diagnose/roce_class.h"
#include "agent/tune/profile.h"

namespace rocetune::cli {

// The class of RoCE data is the profile's first class that is not the one named "cnp".
diagnose::Intent intent_of(const tune::Profile& profile);

// What `stated` says, and what it leaves out from `base`; its origin names both.
diagnose::Intent completed(const diagnose::Intent& stated, const diagnose::Intent& base);

}  // namespace rocetune::cli
