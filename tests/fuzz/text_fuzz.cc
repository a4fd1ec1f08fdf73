// Text of any content on a terminal: cut, wrapped and in tables it keeps within its width.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dataplane/base/text_table.h"
#include "dataplane/base/utf8.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  const std::string text = printable(raw);
  require(printable(text) == text);
  const int width = 1 + (size > 0 ? data[0] % 40 : 0);
  require(display_width(truncated(text, width)) <= width);
  for (const std::string& line : wrapped(text, width)) require(display_width(line) <= std::max(width, 2));

  TextTable table(
      {{.title = "a", .overflow = Overflow::wrap}, {.title = "b", .overflow = Overflow::truncate}});
  table.add_row({text, std::string(raw)});
  const std::string shown = table.text({.width = 40});
  for (std::size_t begin = 0; begin < shown.size();) {
    const std::size_t end = shown.find('\n', begin);
    require(end != std::string::npos &&
            display_width(std::string_view(shown).substr(begin, end - begin)) <= 40);
    begin = end + 1;
  }
  return 0;
}
