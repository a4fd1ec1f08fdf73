// Text forms of units: whatever parses prints, and what is printed parses back to the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "congestion/units.h"

namespace {

template <class Parse>
void round_trip(std::string_view text, Parse&& parse) {
  const auto value = parse(text);
  if (!value) return;
  const auto again = parse(rocetune::to_text(*value));
  ROCETUNE_ASSERT(again && *again == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(text, parse_bytes);
  round_trip(text, parse_duration);
  round_trip(text, parse_bit_rate);
  round_trip(text, parse_ratio);
  round_trip(text, parse_metres);
  round_trip(text, parse_priority);
  round_trip(text, parse_dscp);
  if (const auto set = parse_priority_set(text)) ROCETUNE_ASSERT(set->size() <= 8);
  return 0;
}
