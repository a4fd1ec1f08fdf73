// The loop of a live tap: frames from a source to the observer until the time is over or a signal comes.
#pragma once

#include <span>

#include "dataplane/base/clock.h"
#include "dataplane/tap/observer.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {

// `span` zero: until a signal. A silent source is looked at every 50 us, to leave the core to others.
template <class Source, class Frame>
void listen(Source& source, std::span<Frame> frames, Duration span, tap::Observer& observer) {
  constexpr Duration kIdleSleep = microseconds(50);
  constexpr int kIdleRounds = 2000;
  stop_on_signals();
  SystemClock clock;
  const Instant start = clock.now();
  int idle = 0;
  while (!stop_was_asked()) {
    const Instant now = clock.now();
    if (!span.is_zero() && now - start >= span) break;
    const std::size_t count = source.receive(frames);
    for (const Frame& frame : frames.first(count)) {
      observer.observe(tap::LinkType::ethernet, frame.bytes, static_cast<std::uint32_t>(frame.bytes.size()),
                       now);
    }
    source.release(frames.first(count));
    idle = count > 0 ? 0 : idle + 1;
    if (idle > kIdleRounds) clock.sleep_for(kIdleSleep);
  }
}

}  // namespace rocetune::cli
