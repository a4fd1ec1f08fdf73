// Any text as outputs of host tools, and twice as dumps before and after.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "agent/evidence/assembly.h"
#include "agent/evidence/dossier.h"
#include "agent/evidence/host_tools/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::evidence;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The name decides about "{}" and about a number alone.
  const std::string names[] = {"x.app.before.txt", "x.app.after60s.txt", "hw_counters/out_of_buffer"};
  std::vector<FileReport> files;
  std::vector<Document> documents;
  for (const std::string& name : names) {
    TextReading reading = read_text(text, name, host_tool_formats());
    if (reading.report.unread > reading.report.lines) std::abort();
    files.push_back(std::move(reading.report));
    for (Document& document : reading.documents) {
      if (document.format.empty() || document.last_line < document.first_line) std::abort();
      documents.push_back(std::move(document));
    }
  }
  const Dossier dossier(std::move(files), std::move(documents));
  // A text is the same before and after: nothing rises.
  for (const Pair& pair : dossier.pairs()) {
    for (const Counter& counter : pair.after->counters) {
      const auto delta = pair.delta(counter.name, counter.device);
      if (delta && *delta != 0) std::abort();
    }
  }
  (void)dossier.facts();
  (void)assemble_hosts(dossier);
  return 0;
}
