// Counter tables of any content: loaded, or refused with all their issues. The input is schema.toml up to the
// first line that is "---", and a NIC's table after it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/counters/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string separator = "\n---\n";
  const std::size_t split = text.find(separator);
  std::vector<ConfigFile> files{{"counters/schema.toml", "schema.toml", text.substr(0, split)}};
  if (split != std::string::npos) {
    files.push_back({"counters/a.toml", "a.toml", text.substr(split + separator.size())});
  }
  const auto schema = counters::Schema::parse(files);
  if (!schema && schema.error().text().empty()) __builtin_trap();
  return 0;
}
