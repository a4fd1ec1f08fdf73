// What a run of the fabric showed, in the words of the search.
#pragma once

#include <vector>

#include "agent/tune/search/observation.h"
#include "dataplane/fabric/result.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric_plant {

// goodput: payload over the time of the run (with a deadlock: up to the limit). busbw: geometric mean of the
// collectives of jobs, once each has been finished. latency, p99_fct: of flows, or iterations of jobs; what
// is not finished has taken until the limit, at least. Where flows have more to send than their hosts' links
// take until then, latency is a round trip across the idle fabric and how long the median of the longest
// queue takes to leave. fairness: of two flows or more. Breaches: deadlock, lossless-drop, failed-requests.
search::Observation observation_of(const fabric::RunResult& result, const fabric::Scenario& scenario);

// Several runs as one: means of the objectives that all of them have, sums of counters and of times taken,
// each guardrail's first breach with the number of runs that breached it, the series of the first run. Not
// empty.
search::Observation together(const std::vector<search::Observation>& runs);

// From the first host to the one farthest from it and back, with a frame of the path MTU that way, and nobody
// else on it.
double idle_round_trip_us(const fabric::Scenario& scenario);

// How a run is asked for a series.
inline constexpr std::size_t kSamples = 240;

}  // namespace rocetune::fabric_plant
