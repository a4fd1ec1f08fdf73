// Any text as logs, environments and command lines.
#include <cstdint>

#include "agent/evidence/dossier.h"
#include "agent/evidence/logs/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto reading = rocetune::evidence::read_text(text, "node1.txt", rocetune::evidence::log_formats());
  (void)reading;
  return 0;
}
