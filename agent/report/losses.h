// What of a run's traffic did not come through, by where it ended.
#pragma once

#include <string_view>
#include <vector>

#include "dataplane/fabric/result.h"

namespace rocetune::report {

struct Loss {
  std::uint64_t count = 0;
  std::string_view what;  // "lost on links"
};
// The kinds that happened; none if all went well. Packets, and at the end requests that failed.
std::vector<Loss> losses_of(const fabric::RunResult& result);

}  // namespace rocetune::report
