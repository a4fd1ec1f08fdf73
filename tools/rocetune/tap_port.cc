#include "tools/rocetune/tap_port.h"

#include "dataplane/port/dpdk/part.h"
#include "tools/rocetune/tap_listen.h"

namespace rocetune::cli {
namespace {

// The largest frame a port may hand over: jumbo frames of every NIC fit.
constexpr Bytes kLargestTapFrame{9728};

}  // namespace

Expected<tap::TapFacts> facts_of_port(const TapCommand& command, const tap::ObserverOptions& options) {
  const auto part = open_part<dpdk::DpdkPart>();
  if (!part) return tl::unexpected(part.error());
  const auto port = (*part)->open({.eal_arguments = command.dpdk,
                                   .port = command.dpdk_port,
                                   .largest_frame = kLargestTapFrame,
                                   .promiscuous = true});
  if (!port) return tl::unexpected(port.error());

  dpdk::Queue& queue = (*port)->queue(0);
  tap::ObserverOptions observed = options;
  if (!observed.link_speed) observed.link_speed = queue.capabilities().link_speed;
  tap::Observer observer(observed);
  std::array<port::ReceivedFrame, port::kMaxBurst> frames;
  listen(queue, std::span<port::ReceivedFrame>(frames), command.span, observer);
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
