// What can be seen of a fabric from its hosts, in quantities that mean the same on real hosts and on virtual
// ones: the fit compares these. Counters enter as ratios of each other, so that the time in which a job only
// starts or ends does not count.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "agent/tune/search/observation.h"

namespace rocetune::twin {

enum class Quantity {
  goodput,         // Gb/s
  busbw,           // Gb/s
  latency,         // us
  p99_fct,         // us
  ce_ratio,        // CE-marked among received RoCE packets
  cnp_ratio,       // CNPs sent over received RoCE packets; where none counts those, handled over sent ones
  pause_received,  // us held by the network per MB sent
  pause_sent,      // us the network was held per MB received
};
inline constexpr std::size_t kQuantities = 8;

struct QuantityKind {
  Quantity quantity;
  std::string_view name;
  std::string_view unit;
  // How far a fabric that is right in everything else may be off, as the standard deviation of the logarithm:
  // ours. Chance is added to it.
  double doubt;
  // Below this nothing is told apart.
  double least;
};
const std::array<QuantityKind, kQuantities>& quantity_kinds();
const QuantityKind& kind_of(Quantity quantity);

// What an observation shows of each; absent: not measured, or not counted.
struct Readings {
  std::array<std::optional<double>, kQuantities> values;
  std::optional<double>& operator[](Quantity q) { return values[static_cast<std::size_t>(q)]; }
  const std::optional<double>& operator[](Quantity q) const { return values[static_cast<std::size_t>(q)]; }
};
// Of counters by their names in configs/counters/schema.toml.
Readings readings_of(const search::Observation& observation);

}  // namespace rocetune::twin
