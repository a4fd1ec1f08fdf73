// What happened between two readings: increments over measured time. Wraps of 32-bit counters are resolved;
// everything that cannot be known is absent with its reason, never zero.
#pragma once

#include "agent/counters/model.h"
#include "agent/counters/reading.h"
#include "agent/counters/schema.h"

namespace rocetune::counters {

// The increase of one counter from `before` to `after` within `elapsed` (positive).
//
// A value that fell is a wrap only if the counter is 32 bits wide, neither value is larger than that, and the
// increase is plausible: less than half the counter's range, and no more than `most` (nothing: no bound
// known). Otherwise the counter was reset (driver reload, firmware reset) and the increase is not known.
Observed<std::uint64_t> increase(std::uint64_t before, std::uint64_t after, int width_bits,
                                 std::optional<std::uint64_t> most);

// The most that a counter of this unit can grow in `elapsed` on a link of `speed` (nothing: 800 Gb/s, the
// fastest there is): smallest frames back to back, every byte of the line, real time with a tenth of slack.
// Nothing for units that no physical limit bounds.
std::optional<std::uint64_t> most_within(Unit unit, Duration elapsed, std::optional<BitRate> speed);

PortDelta delta_between(const Schema& schema, const PortReading& before, const PortReading& after);
// Ports present in both readings, in the order of `after`.
Interval interval_between(const Schema& schema, const Reading& before, const Reading& after);
// The same from samples: replayed, pasted, from a snapshot. Their raw maps count, not their values.
Interval interval_between(const Schema& schema, const Sample& before, const Sample& after);

}  // namespace rocetune::counters
