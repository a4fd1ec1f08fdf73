// The tables of a scenario, each read by a function of its own. Issues are recorded with the reader.
#pragma once

#include "dataplane/base/toml_reader.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric {

constexpr std::uint32_t kMostHosts = 1U << 16;

// What links and buffers may be: far beyond what is built, far below what arithmetic holds.
inline auto a_rate() { return between(megabits_per_second(1), gigabits_per_second(10'000)); }
inline auto a_delay() { return between(nanoseconds(1), seconds(1)); }
inline auto an_amount(std::int64_t least) { return between(Bytes(least), Bytes(std::int64_t{1} << 32)); }

// [topology]. What cannot be built is left empty.
void read_topology(TableReader& t, Topology& out);
// One [[flows]]: adds to out.flows. Needs out.topology and out.limit.
void read_flows(TableReader& t, Scenario& out);

}  // namespace rocetune::fabric
