// What the other side of a benchmark sends: a message that parses prints, and what is printed parses back to
// it.
#include <cstddef>
#include <cstdint>

#include "dataplane/transport/pattern/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::pattern;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = parse_message(text, "peer");
  if (!message) return 0;
  if (message->plan && check(*message->plan)) {
    const Layout layout(*message->plan);
    ROCETUNE_ASSERT(layout.size(1) > rocetune::Bytes(0));
  }
  const auto again = parse_message(to_line(*message), "peer");
  ROCETUNE_ASSERT(again);
  ROCETUNE_ASSERT(to_line(*again) == to_line(*message));
  return 0;
}
