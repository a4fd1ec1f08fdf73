#include "agent/counters/sampler.h"

#include <algorithm>

namespace rocetune::counters {
namespace {

Duration median(const std::deque<Duration>& durations) {
  std::vector<Duration> sorted(durations.begin(), durations.end());
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

// How often a port whose PFC settings change while it is read is tried before its sample is given up.
constexpr int kAttempts = 3;

}  // namespace

Sampler::Sampler(const Schema& schema, std::vector<PortReaders> ports, const Clock& clock)
    : schema_(schema), clock_(clock) {
  for (PortReaders& readers : ports) {
    Port port;
    port.last.port = readers.port;
    port.last.nic = readers.nic;
    port.last.speed = readers.speed;
    for (std::size_t i = 0; i < kSourceCount; ++i) {
      if (readers.readers[i] == nullptr) port.last.blocks[i] = tl::unexpected(readers.missing[i]);
    }
    if (readers.readers[index_of(Source::dcb)] == nullptr) port.configuration = 0;
    port.readers = std::move(readers);
    ports_.push_back(std::move(port));
  }
}

void Sampler::read_source(Port& port, Source source) {
  CounterReader* reader = port.readers.readers[index_of(source)].get();
  if (reader == nullptr) return;
  auto& observed = port.last.blocks[index_of(source)];
  if (!observed) observed = Block{};
  if (const auto status = reader->read(*observed); !status) observed = unavailable(status.error());
}

// mlx5 lists pause rows only for priorities with PFC on. Moving PFC from one priority to another keeps their
// number, so the kernel's count check cannot see it: the statistics are good only if the PFC mask read after
// them is the one that their names were read under.
void Sampler::read_port(Port& port) {
  CounterReader* ethtool = port.readers.readers[index_of(Source::ethtool)].get();
  CounterReader* dcb = port.readers.readers[index_of(Source::dcb)].get();
  for (int attempt = 0;; ++attempt) {
    read_source(port, Source::ethtool);
    read_source(port, Source::dcb);
    if (ethtool == nullptr || dcb == nullptr) break;
    const std::uint64_t configuration = dcb->configuration();
    if (port.configuration == configuration) break;
    if (attempt == kAttempts) {
      port.last.blocks[index_of(Source::ethtool)] =
          failed("PFC settings kept changing while the statistics were read");
      break;
    }
    port.configuration = configuration;
    ethtool->forget_names();
  }
  read_source(port, Source::rdma);
  lay_out(schema_, port.last);
}

Reading Sampler::read() {
  Reading out;
  out.at = clock_.now();
  out.taken_unix_ns = clock_.unix_ns();
  out.ports.reserve(ports_.size());
  for (Port& port : ports_) {
    read_port(port);
    out.ports.push_back(port.last);
  }
  out.read_time = clock_.now() - out.at;
  read_times_.push_back(out.read_time);
  if (read_times_.size() > kReadTimesKept) read_times_.pop_front();
  out.typical_read_time = median(read_times_);
  return out;
}

Duration Sampler::effective_interval(Duration wanted, const Reading& last) {
  Duration out = std::max(wanted, least_interval(last.typical_read_time));
  for (const PortReading& port : last.ports) {
    const auto& rdma = port.blocks[index_of(Source::rdma)];
    if (rdma) out = std::max(out, rdma->resolution);
  }
  return out;
}

}  // namespace rocetune::counters
