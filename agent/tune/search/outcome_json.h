// The outcome as JSON, verdict first; keys carry their unit, schema_version counts.
#pragma once

#include "agent/tune/search/outcome.h"
#include "dataplane/base/json_writer.h"

namespace rocetune::search {

// Members of an object that the caller has begun and ends: verdict, reason, gain_percent, trials (how many),
// baseline, best, attribution[], workloads[], noise, front[], not_tried[], over_time (which trials to lay
// beside each other), trial_log[]; observations with
// their series only where `with_series`.
void write_outcome(JsonWriter& out, const Outcome& outcome, const Plant& plant, bool with_series);
// best_settings[]: "knob=value" of what differs from the start, as Space::setting reads it.
void write_best_settings(JsonWriter& out, const Space& space, const Candidate& candidate);

}  // namespace rocetune::search
