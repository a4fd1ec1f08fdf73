// Counter records of any content: every line is a reading, or refused with its number; what was read can be
// subtracted, shown and written again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/counters/deltas.h"
#include "agent/counters/record.h"
#include "agent/counters/watch_view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  using namespace rocetune::counters;
  static const Schema schema = Schema::load(ConfigFiles()).value();
  RecordDecoder decoder(schema, "record");
  std::optional<Reading> before;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    auto reading = decoder.line(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!reading || !*reading) continue;
    RecordEncoder encoder;
    (void)encoder.lines(**reading);
    if (before && (*reading)->at > before->at) {
      WatchFrame frame;
      frame.interval = interval_between(schema, *before, **reading);
      frame.raw = find_raw(*before, **reading, {"*"});
      (void)to_json_line(frame);
      (void)to_table(frame, "t", {.width = 80});
    }
    before = std::move(**reading);
  }
  return 0;
}
