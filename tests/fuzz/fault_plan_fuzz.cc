// The text form of faults: what parses prints, and what is printed parses back to the same plan.
#include <cstddef>
#include <cstdint>

#include "dataplane/port/fault_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::port;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = parse_fault_plan(text, "--faults");
  if (!plan) return 0;
  const auto again = parse_fault_plan(plan->text(), "--faults");
  ROCETUNE_ASSERT(again && *again == *plan);
  rocetune::Random random(1);
  for (std::uint64_t i = 0; i < 100; ++i) plan->loss.strikes(i, random);
  return 0;
}
