// Plan files of any content: read or refused with bad_input. One that is read is written and read the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/tune/plan_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto plan = tune::plan_from_json(text, "plan.json");
  if (!plan) {
    if (plan.error().kind() != ErrorKind::bad_input) std::abort();
    return 0;
  }
  const auto again = tune::plan_from_json(tune::to_json_text(*plan), "plan.json");
  if (!again || !(*again == *plan)) std::abort();
  const host::Host host;
  (void)tune::staleness(*plan, host);
  (void)tune::plan_text(*plan, host, tune::refusals({host, *plan, not_read(), tune::Limits{}}), true);
  return 0;
}
