// Evidence out of a capture, for the rules that judge one.
#pragma once

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {

Evidence seen(const CaptureFacts& facts, std::string name, const auto& value, std::string unit = "packets") {
  return setting(std::move(name), value, std::move(unit), "capture " + facts.capture.file);
}

}  // namespace rocetune::diagnose
