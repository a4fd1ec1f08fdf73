// Any text as output of RDMA tools, lspci, the kernel's log and the like: read to its end, in bounds, and
// told.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/evidence/dossier.h"
#include "agent/evidence/rdma_tools/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::evidence;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TextReading reading = read_text(text, "node1.txt", rdma_tool_formats());
  if (reading.report.unread > reading.report.lines) std::abort();
  for (const Document& document : reading.documents) {
    if (document.first_line < 1 || document.last_line < document.first_line || !document.content.has_value())
      std::abort();
  }
  return 0;
}
