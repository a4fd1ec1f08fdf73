#include "agent/counters/history.h"

#include "agent/counters/deltas.h"

namespace rocetune::counters {
namespace {

bool meet(const Interval& earlier, const Interval& later) {
  return earlier.until_unix_ns == later.from_unix_ns;
}

}  // namespace

History::History(std::vector<Tier> tiers) {
  ROCETUNE_ASSERT(!tiers.empty() && tiers.front().joins == 1);
  for (const Tier& tier : tiers) {
    ROCETUNE_ASSERT(tier.capacity >= 1 && tier.joins >= 1);
    tiers_.push_back({tier, {}, {}, 0});
  }
}

void History::add(const Interval& interval) {
  if (!tiers_.front().kept.empty() && !meet(tiers_.front().kept.back(), interval)) {
    for (Level& level : tiers_) {
      level.pending.reset();
      level.parts = 0;
    }
  }
  add_to(0, interval);
}

void History::add_to(std::size_t index, const Interval& interval) {
  Level& level = tiers_[index];
  level.pending = level.pending ? joined(*level.pending, interval) : interval;
  if (++level.parts < level.tier.joins) return;
  level.kept.push_back(std::move(*level.pending));
  level.pending.reset();
  level.parts = 0;
  if (level.kept.size() > level.tier.capacity) level.kept.pop_front();
  // kept.back() is there: the capacity is at least one.
  if (index + 1 < tiers_.size()) add_to(index + 1, level.kept.back());
}

std::optional<Interval> History::last(std::size_t count) const {
  const auto& kept = tiers_.front().kept;
  if (count == 0 || kept.size() < count) return std::nullopt;
  Interval out = kept[kept.size() - count];
  for (std::size_t i = kept.size() - count + 1; i < kept.size(); ++i) {
    if (!meet(out, kept[i])) return std::nullopt;
    out = joined(out, kept[i]);
  }
  return out;
}

}  // namespace rocetune::counters
