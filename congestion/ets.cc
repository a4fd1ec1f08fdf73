#include "congestion/ets.h"

namespace rocetune {
namespace {
// A class of one percent may send this much per round: small, so that no class waits long, and any packet is
// reached within a few rounds (9 KiB at one percent: 90).
constexpr Bytes kQuantumPerPercent{100};
}  // namespace

EtsScheduler::EtsScheduler(const EtsConfig& config) : config_(config) {
  int sum = 0;
  for (const EtsClass& c : config.classes) {
    ROCETUNE_ASSERT(c.share_percent >= 0 && c.share_percent <= 100);
    if (!c.strict) sum += c.share_percent;
  }
  ROCETUNE_ASSERT(sum == 0 || sum == 100);
}

std::optional<TrafficClass> EtsScheduler::next(const Heads& heads) {
  for (int tc = TrafficClass::kCount - 1; tc >= 0; --tc) {
    const auto i = static_cast<std::size_t>(tc);
    if (config_.classes[i].strict && heads[i]) return TrafficClass(tc);
  }
  return next_shared(heads);
}

std::optional<TrafficClass> EtsScheduler::next_shared(const Heads& heads) {
  bool any_funded = false;
  std::optional<TrafficClass> unfunded;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const EtsClass& c = config_.classes[i];
    if (c.strict) continue;
    // A class that has nothing to send keeps no claim: else it would burst later at the others' expense.
    if (!heads[i]) {
      deficit_[i] = Bytes(0);
      continue;
    }
    if (c.share_percent > 0) any_funded = true;
    if (c.share_percent == 0) unfunded = TrafficClass(static_cast<int>(i));
  }
  if (!any_funded) return unfunded;
  for (;;) {
    const EtsClass& c = config_.classes[turn_];
    if (!c.strict && c.share_percent > 0 && heads[turn_]) {
      if (!turn_is_funded_) {
        deficit_[turn_] += kQuantumPerPercent * c.share_percent;
        turn_is_funded_ = true;
      }
      if (*heads[turn_] <= deficit_[turn_]) {
        deficit_[turn_] -= *heads[turn_];
        return TrafficClass(static_cast<int>(turn_));
      }
    } else {
      deficit_[turn_] = Bytes(0);
    }
    turn_ = (turn_ + 1) % heads.size();
    turn_is_funded_ = false;
  }
}

}  // namespace rocetune
