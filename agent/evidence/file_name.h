// What a file's name says: phase, host, and what it has in common with the other phases of the same thing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/evidence/document.h"

namespace rocetune::evidence {

struct NameParts {
  std::optional<Phase> phase;
  std::string series;  // the name without phase and elapsed time
  std::string host;  // the part that is neither tool nor phase nor ending: "hw_counters.sender1.after.txt" ->
                     // "sender1"; empty: none
};

// `name` may have folders in front: of them a folder that is a host's name is not guessed.
NameParts parts_of_name(std::string_view name);

}  // namespace rocetune::evidence
