// How long flows are: a cumulative distribution by points, exact in integers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/error.h"
#include "dataplane/base/random.h"

namespace rocetune::fabric {

// A share of `share` of all flows has at most `size`. Between two points sizes are spread evenly; before the
// first one there are none.
struct SizePoint {
  Bytes size;
  Ratio share;
};

class SizeDistribution {
 public:
  static constexpr Bytes kLongest{UINT32_MAX};

  // What is wrong with `points`, as what is allowed; empty: nothing. Sizes must not fall and not exceed
  // kLongest, shares must rise, the last one to 100 %.
  static std::string issue_of(const std::vector<SizePoint>& points);
  // Asserts that there is no such issue.
  explicit SizeDistribution(std::vector<SizePoint> points);
  // Every flow has `size`, 1 or more.
  static SizeDistribution fixed(Bytes size) { return SizeDistribution({{size, Ratio::one()}}); }

  // Rounded to a byte, 1 or more.
  Bytes mean() const;
  // 1 or more. Takes one number of `random` or, rarely, some more.
  Bytes sample(Random& random) const;
  const std::vector<SizePoint>& points() const { return points_; }

 private:
  std::vector<SizePoint> points_;
};

// A published distribution: configs/workloads/NAME.toml.
struct Workload {
  std::string name;
  std::string description;
  std::string origin;
  SizeDistribution sizes = SizeDistribution::fixed(Bytes(1));
};
// Error: bad_input with every issue of the file.
Expected<Workload> workload_from_toml(std::string_view text, const std::string& file);
// The shipped one of that name; `workload_names` has all.
Expected<Workload> shipped_workload(const std::string& name);
std::vector<std::string> workload_names();

}  // namespace rocetune::fabric
