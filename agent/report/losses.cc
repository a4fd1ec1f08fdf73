#include "agent/report/losses.h"

namespace rocetune::report {

std::vector<Loss> losses_of(const fabric::RunResult& r) {
  std::vector<Loss> out{{r.drops, "dropped in switches for lack of room"},
                        {r.watchdog_drops, "dropped by watchdogs in storms"},
                        {r.link_drops, "dropped before a link that was down"},
                        {r.lost_frames, "lost on links"},
                        {r.receive_drops, "dropped in NICs whose hosts are slow"},
                        {r.failed_requests, "requests failed"}};
  std::erase_if(out, [](const Loss& loss) { return loss.count == 0; });
  return out;
}

}  // namespace rocetune::report
