// Flow files of any content: flows that lead somewhere, or issues with their lines.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataplane/fabric/flow_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  constexpr std::array<fabric::NodeId, 4> kIslands{0, 0, 0, 3};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fabric::FlowFile file = fabric::parse_flow_file(text, "input", kIslands, seconds(1));
  for (const fabric::Flow& flow : file.flows) {
    if (flow.from >= kIslands.size() || flow.to >= kIslands.size() || flow.from == flow.to) std::abort();
    if (kIslands[flow.from] != kIslands[flow.to] || flow.bytes == 0) std::abort();
    if (flow.start < Instant() || flow.start > Instant(seconds(1))) std::abort();
  }
  for (const InputIssue& issue : file.issues) {
    if (issue.text().empty()) std::abort();
  }
  return 0;
}
