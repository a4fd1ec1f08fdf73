// Size distributions of any content: what is accepted gives sizes within its points.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataplane/fabric/size_distribution.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto workload = fabric::workload_from_toml(text, "input");
  if (!workload) return 0;
  const Bytes largest = std::max(workload->sizes.points().back().size, Bytes(1));
  if (workload->sizes.mean() < Bytes(1) || workload->sizes.mean() > largest) std::abort();
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Bytes sample = workload->sizes.sample(random);
    if (sample < Bytes(1) || sample > largest) std::abort();
  }
  return 0;
}
