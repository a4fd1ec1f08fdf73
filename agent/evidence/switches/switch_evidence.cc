#include "agent/evidence/switches/switch_evidence.h"

namespace rocetune::evidence {

std::optional<std::uint64_t> PfcFrames::sum() const {
  if (total) return total;
  std::optional<std::uint64_t> out;
  for (const auto& frames : of_priority) {
    if (frames) out = out.value_or(0) + *frames;
  }
  return out;
}

bool SwitchEvidence::is_empty() const {
  return model.is_empty() && !pfc_globally && pfc_states.empty() && pfc_frames.empty() && watchdog.empty() &&
         traffic.empty() && queues.empty();
}

}  // namespace rocetune::evidence
