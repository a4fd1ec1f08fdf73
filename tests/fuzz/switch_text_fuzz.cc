// Any text as outputs and configurations of switches.
#include <cstdint>

#include "agent/evidence/dossier.h"
#include "agent/evidence/switches/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto reading = rocetune::evidence::read_text(text, "leaf1.txt", rocetune::evidence::switch_formats());
  (void)reading;
  return 0;
}
