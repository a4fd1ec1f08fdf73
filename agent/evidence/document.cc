#include "agent/evidence/document.h"

namespace rocetune::evidence {

const Counter* Document::find_counter(std::string_view name, std::string_view device) const {
  for (const Counter& counter : counters) {
    if (counter.name == name && (device.empty() || counter.device == device)) return &counter;
  }
  return nullptr;
}

}  // namespace rocetune::evidence
