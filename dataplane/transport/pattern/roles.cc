#include "dataplane/transport/pattern/roles.h"

namespace rocetune::pattern {
namespace {

// A queue pair that gets no answer fails by itself after its retries (about 0.5 s each); longer than all of
// them means that something is wrong with us.
constexpr Duration kLongestDrain = seconds(30);

}  // namespace

Expected<> ClientRole::turn() {
  const Instant now = shard_.driver().receive();
  auto status = asker_.work(false, shard_.driver().counters().pauses);
  shard_.driver().transmit(now);
  return status;
}

Expected<> ClientRole::run(Duration span) {
  soft::Driver& driver = shard_.driver();
  const soft::WorkerCounters& counters = driver.counters();
  const Instant start = clock_.now();
  marks_.assign(1, {start, asker_.completed()});
  for (int part = 1; part <= kParts; ++part) {
    const Instant end = start + span * part / kParts;
    Instant now;
    do {
      now = driver.receive();
      if (auto status = asker_.work(true, counters.pauses); !status) return status;
      driver.transmit(now);
    } while (now < end);
    marks_.push_back({now, asker_.completed()});
    if (stop_()) return fail(ErrorKind::io, "interrupted");
  }
  return finish(clock_.now() + kLongestDrain);
}

Expected<> ClientRole::finish(Instant end) {
  while (!asker_.is_idle()) {
    if (auto status = turn(); !status) return status;
    if (clock_.now() > end) return fail(ErrorKind::io, "requests in flight do not end");
  }
  return {};
}

}  // namespace rocetune::pattern
