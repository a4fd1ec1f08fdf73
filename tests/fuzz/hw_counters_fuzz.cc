// Text of one file in hw_counters: one number, or nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/counters/counter_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = rocetune::counters::parse_counter(text);
  // What was read is what stands there: its digits are in the text.
  if (value && text.find(std::to_string(*value)) == std::string_view::npos) __builtin_trap();
  return 0;
}
