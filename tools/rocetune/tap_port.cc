#include "tools/rocetune/tap_port.h"

#include "dataplane/base/clock.h"
#include "dataplane/port/dpdk/part.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {
namespace {

// The largest frame a port may hand over: jumbo frames of every NIC fit.
constexpr Bytes kLargestTapFrame{9728};
// A silent port is looked at this often, to leave the core to others.
constexpr Duration kIdleSleep = microseconds(50);
constexpr int kIdleRounds = 2000;

}  // namespace

Expected<tap::TapFacts> facts_of_port(const TapCommand& command, const tap::ObserverOptions& options) {
  const auto part = open_part<dpdk::DpdkPart>();
  if (!part) return tl::unexpected(part.error());
  const auto port = (*part)->open({.eal_arguments = command.dpdk,
                                   .port = command.dpdk_port,
                                   .largest_frame = kLargestTapFrame,
                                   .promiscuous = true});
  if (!port) return tl::unexpected(port.error());

  stop_on_signals();
  SystemClock clock;
  const Instant start = clock.now();
  dpdk::Queue& queue = (*port)->queue(0);
  tap::ObserverOptions observed = options;
  if (!observed.link_speed) observed.link_speed = queue.capabilities().link_speed;
  tap::Observer observer(observed);
  std::array<port::ReceivedFrame, port::kMaxBurst> frames;
  int idle = 0;
  while (!stop_was_asked()) {
    const Instant now = clock.now();
    if (!command.span.is_zero() && now - start >= command.span) break;
    const std::size_t count = queue.receive(frames);
    for (const port::ReceivedFrame& frame : std::span(frames).first(count)) {
      observer.observe(tap::LinkType::ethernet, frame.bytes, static_cast<std::uint32_t>(frame.bytes.size()),
                       now);
    }
    queue.release(std::span(frames).first(count));
    idle = count > 0 ? 0 : idle + 1;
    if (idle > kIdleRounds) clock.sleep_for(kIdleSleep);
  }
  tap::TapFacts facts = observer.facts();
  const port::PortCounters counters = queue.counters();
  if (const auto missed = counters.receive_missed + counters.receive_no_buffer + counters.receive_oversized) {
    facts.notes.push_back(fmt::format("the port dropped {} frames before they were looked at", missed));
  }
  facts.notes.push_back("pause frames end in the MAC of a port: pauses are not checked");
  (*port)->close();
  return facts;
}

}  // namespace rocetune::cli
