// Enhanced transmission selection (IEEE 802.1Qaz): strict classes first, the rest shared by weight.
#pragma once

#include <array>
#include <optional>

#include "congestion/units.h"

namespace rocetune {

// How one traffic class is served. `share` counts only for shared classes: percent of what the strict classes
// leave, 0..100; the shares of all shared classes sum to 100.
struct EtsClass {
  bool strict = true;
  int share_percent = 0;
  bool operator==(const EtsClass&) const = default;
};
struct EtsConfig {
  std::array<EtsClass, TrafficClass::kCount> classes{};
  bool operator==(const EtsConfig&) const = default;
};
// Which class a priority's packets belong to.
using ClassOfPriority = std::array<TrafficClass, Priority::kCount>;
// Each has one of its own, of the same number.
constexpr ClassOfPriority a_class_each() {
  ClassOfPriority out{};
  for (int p = 0; p < Priority::kCount; ++p) out[static_cast<std::size_t>(p)] = TrafficClass(p);
  return out;
}

// Chooses the next packet of a port: among strict classes the highest number, then deficit round robin over
// the shared ones. Long-run shares are exact to one packet per class, whatever the packet sizes.
// A shared class with share 0 is served only when no other shared class has anything to send.
class EtsScheduler {
 public:
  // The size of the packet at the head of each class's queue; empty: nothing waits, or the class is paused.
  using Heads = std::array<std::optional<Bytes>, TrafficClass::kCount>;

  // Requires shares that sum to 100, or no shared class with a share at all.
  explicit EtsScheduler(const EtsConfig& config);
  // The class to serve, none if nothing can be sent. The packet counts as sent.
  std::optional<TrafficClass> next(const Heads& heads);

 private:
  std::optional<TrafficClass> next_shared(const Heads& heads);

  EtsConfig config_;
  std::array<Bytes, TrafficClass::kCount> deficit_{};
  std::size_t turn_ = 0;         // the class whose turn it is
  bool turn_is_funded_ = false;  // its quantum for this round has been added
};

}  // namespace rocetune
