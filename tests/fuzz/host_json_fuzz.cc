// Saved hosts, recorded kernel answers and knob values as JSON of any content. What is read is written and
// read again: it must be the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/host/kernel_answers.h"
#include "agent/host/knob_json.h"
#include "agent/host/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto saved = host::host_from_json(text, "input")) {
    const auto again = host::host_from_json(host::to_json_text(*saved), "output");
    if (!again || !(*again == *saved)) std::abort();
  }
  (void)host::kernel_answers_from_json(text, "input");
  if (const auto json = parse_json(text, "input")) {
    for (const auto& [kind, name] : EnumNames<host::KnobKind>::names) {
      (void)host::knob_value_from_json(kind, *json, JsonPath("input"));
    }
  }
  return 0;
}
