// Any file as a capture, with everything that is reported about it.
#include <cstddef>
#include <cstdint>

#include "dataplane/tap/capture_analysis.h"
#include "dataplane/tap/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::tap;
  const auto facts = analyse_capture(std::as_bytes(std::span(data, size)), "input", {});
  if (!facts) return 0;
  (void)text_report(*facts, "input", {});
  (void)json_report(*facts, "input");
  (void)html_report(*facts, "input");
  return 0;
}
