// What a perftest on the other side says: a piece that parses prints, and what is printed parses back to it.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dataplane/transport/perftest/exchange.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::perftest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto key = parse_key(text, "peer")) {
    const auto again = parse_key(key_piece(*key), "peer");
    ROCETUNE_ASSERT(again && *again == *key);
  }
  if (const auto mtu = parse_mtu(text, "peer")) ROCETUNE_ASSERT(mtu_piece(*mtu) == text);
  if (const auto version = parse_version(text, "peer")) ROCETUNE_ASSERT(*version >= kOldestVersion);
  if (const auto number = parse_number(text, "peer")) ROCETUNE_ASSERT(number_piece(*number) == text);
  ReportWords words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = text.substr(std::min(size, i * kWordSize), kWordSize);
  }
  if (const auto report = parse_report(words, "peer")) {
    ROCETUNE_ASSERT(report_pieces(*report) == words);  // not a number included: bit for bit
  }
  return 0;
}
