// The runs of a sweep, put together by their settings: those that differ in nothing but the seed are one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/fabric/result.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {

using Settings = std::vector<std::pair<std::string, std::string>>;  // key, value as written

struct Variation {
  Settings settings;
  std::uint64_t seed = 0;
  fabric::RunResult result;
};

struct Combination {
  std::vector<std::string> values;  // of Sweep::keys; "–" where a run does not have it
  std::vector<const Variation*> runs;
};
// Points into the variations it was made from.
struct Sweep {
  std::vector<std::string> keys;  // those with several values, as they come
  Settings fixed;                 // those with one
  std::vector<Combination> combinations;
};
Sweep sweep_of(std::span<const Variation> variations);

// What is compared.
struct Metric {
  std::string_view title;
  html::Unit unit;
  std::optional<double> (*of)(const fabric::RunResult&);  // nothing where the result does not say
};
std::span<const Metric> metrics();
const Metric& goodput_metric();
const Metric& p99_metric();  // completion time of 99 % of the flows

struct Spread {
  double mean = 0, low = 0, high = 0;
  std::size_t runs = 0;  // that have a value
};
std::optional<Spread> spread_of(const Combination& combination, const Metric& metric);

// Whether every run is right and without a deadlock.
bool is_sound(const Combination& combination);
// Whether every run finished all its flows.
bool is_finished(const Combination& combination);

// Places in Sweep::combinations. Only sound ones compete, and for completion times only those that finished:
// where slow flows are still under way, the others look fast. None where all are equal.
struct Best {
  std::optional<std::size_t> goodput, p99;
};
Best best_of(const Sweep& sweep);

// Where a setting's values lie on an axis, 0..1 each: as far apart as they are, by their logarithm if they
// span a decade; if they are not all amounts of one kind, in the middle of equal parts.
struct Placement {
  std::vector<double> shares;
  bool is_measured = false;
  bool is_logarithmic = false;
};
Placement placement_of(std::span<const std::string> values);

}  // namespace rocetune::report
