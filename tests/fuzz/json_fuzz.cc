// JSON texts: a value or an error with a place, never more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/base/json_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Expected<Json> json = parse_json(text, "input.json");
  if (!json) ROCETUNE_ASSERT(json.error().kind() == ErrorKind::bad_input);
  return 0;
}
