#include "agent/counters/history.h"

#include <algorithm>

#include "agent/counters/deltas.h"

namespace rocetune::counters {

History::History(const Schema& schema, std::vector<Tier> tiers) : schema_(schema) {
  ROCETUNE_ASSERT(!tiers.empty() && tiers.front().keep_each == 1);
  for (const Tier& tier : tiers) {
    ROCETUNE_ASSERT(tier.capacity >= 1 && tier.keep_each >= 1);
    tiers_.push_back({tier, {}});
  }
}

PortReading History::reduced(const PortReading& port) {
  ROCETUNE_ASSERT(port.layout != nullptr);
  Reduction& reduction = reductions_[port.port];
  if (reduction.of != port.layout) {
    reduction = {.of = port.layout};
    for (std::size_t slot = 0; slot < schema_.slots().size(); ++slot) {
      const Layout::Place& place = port.layout->place(slot);
      if (place.index < 0) continue;
      reduction.indexes[index_of(place.source)].push_back(static_cast<std::size_t>(place.index));
    }
    for (std::size_t source = 0; source < kSourceCount; ++source) {
      auto& indexes = reduction.indexes[source];
      // One vendor's counter may stand for two of ours.
      std::ranges::sort(indexes);
      indexes.erase(std::ranges::unique(indexes).begin(), indexes.end());
      if (!port.blocks[source]) continue;
      NameList list;
      for (const std::size_t index : indexes) list.names.push_back(port.blocks[source]->names->names[index]);
      reduction.names[source] = std::make_shared<const NameList>(std::move(list));
    }
  }
  PortReading out{.port = port.port, .nic = port.nic, .speed = port.speed, .layout = reduction.layout};
  for (std::size_t source = 0; source < kSourceCount; ++source) {
    const auto& full = port.blocks[source];
    if (!full) {
      out.blocks[source] = tl::unexpected(full.error());
      continue;
    }
    Block block{.names = reduction.names[source], .at = full->at, .resolution = full->resolution};
    block.values.reserve(reduction.indexes[source].size());
    for (const std::size_t index : reduction.indexes[source]) block.values.push_back(full->values[index]);
    out.blocks[source] = std::move(block);
  }
  lay_out(schema_, out);
  reduction.layout = out.layout;
  return out;
}

void History::add(const Reading& reading) {
  if (!tiers_.front().kept.empty() && reading.at <= tiers_.front().kept.back().at) {
    for (Level& level : tiers_) level.kept.clear();
    added_ = 0;
  }
  Reading kept{reading.taken_unix_ns, reading.at, reading.read_time, {}, reading.typical_read_time};
  for (const PortReading& port : reading.ports) kept.ports.push_back(reduced(port));
  for (Level& level : tiers_) {
    if (added_ % level.tier.keep_each != 0) continue;
    level.kept.push_back(kept);
    if (level.kept.size() > level.tier.capacity) level.kept.pop_front();
  }
  ++added_;
}

std::optional<Interval> History::last(Duration span) const {
  const auto& newest = tiers_.front().kept;
  if (newest.empty() || span.count() <= 0) return std::nullopt;
  const Instant from = newest.back().at - span;
  for (const Level& level : tiers_) {
    const auto after = std::ranges::upper_bound(level.kept, from, {}, &Reading::at);
    if (after != level.kept.begin()) return interval_between(schema_, *std::prev(after), newest.back());
  }
  return std::nullopt;
}

}  // namespace rocetune::counters
