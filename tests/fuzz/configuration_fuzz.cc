// NIC rows, rule thresholds and soak limits of any content: read or refused, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/diagnose/policy.h"
#include "agent/tune/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  static const auto built_in = host::NicTable::load(ConfigFiles()).value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto table = host::NicTable::parse({{"nics/input.toml", "input", std::string(text)}})) {
    (void)table->for_driver("mlx5_core");
  }
  (void)diagnose::policy_from_toml(text, "input", built_in);
  (void)tune::soak_limits_from_toml(text, "input");
  (void)tune::owners_from_toml(text, "input");
  return 0;
}
