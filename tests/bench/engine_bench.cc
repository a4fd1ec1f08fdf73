// Two endpoints in one process, a wire of memory between them: what the engine itself costs. Frames are
// sealed (headers, payload and ICRC are written to the "wire") and validated on the other side, as over a
// port.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/host_memory.h"
#include "dataplane/wire/crc32.h"

namespace {

using namespace rocetune;
using namespace rocetune::engine;

constexpr std::uint64_t kBase = 0x100000;
constexpr std::size_t kMemory = 8 << 20;
constexpr std::size_t kBurst = 32;
constexpr std::size_t kLongestFrame = 4096 + 128;

struct Side {
  Side(const EndpointOptions& options, std::uint32_t address)
      : bytes(kMemory),
        memory(options.memory_regions),
        endpoint(options, memory),
        ip(wire::IpAddress::v4(address)) {
    key = endpoint
              .add_region({kBase, kMemory, kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic,
                           HostMemory::location_of(bytes.data())})
              .value();
  }
  std::vector<std::byte> bytes;
  HostMemory memory;
  Endpoint endpoint;
  wire::IpAddress ip;
  MemoryKey key;
  std::vector<wire::Qpn> queue_pairs;
};

// Frames in flight one way: sealed into fixed places, as a descriptor ring would hold them.
class Ring {
 public:
  Ring() : places_(kBurst * kLongestFrame) {}
  void send(Side& from, Instant now) {
    count_ = from.endpoint.poll_transmit(now, frames_);
    for (std::size_t i = 0; i < count_; ++i) {
      const wire::MutableBytes place(places_.data() + i * kLongestFrame, kLongestFrame);
      received_[i] = {place.first(seal(frames_[i], from.memory, place))};
    }
  }
  void receive(Side& to, Instant now) {
    if (count_ > 0) to.endpoint.on_frames(now, std::span(received_).first(count_));
  }
  std::size_t count() const { return count_; }

 private:
  std::vector<std::byte> places_;
  std::array<TransmitFrame, kBurst> frames_;
  std::array<ReceivedFrame, kBurst> received_;
  std::size_t count_ = 0;
};

struct World {
  explicit World(std::uint32_t active, std::uint32_t idle, PathMtu mtu, ControllerChoice::Kind controller)
      : options(options_for(active + idle, controller)), a(options, 0x0A000001), b(options, 0x0A000002) {
    for (std::uint32_t i = 0; i < active + idle; ++i) {
      a.queue_pairs.push_back(a.endpoint.create({}).value());
      b.queue_pairs.push_back(b.endpoint.create({}).value());
    }
    for (std::uint32_t i = 0; i < active + idle; ++i) {
      join(a, b, i, mtu);
      join(b, a, i, mtu);
    }
  }
  static EndpointOptions options_for(std::uint32_t pairs, ControllerChoice::Kind controller) {
    EndpointOptions o;
    o.queue_pairs = pairs;
    o.responder_resources = 3 * pairs;
    o.controller.kind = controller;
    o.payload_is_copied = true;
    return o;
  }
  static void join(Side& side, const Side& peer, std::uint32_t i, PathMtu mtu) {
    const ConnectParameters p{.path = {.source = side.ip, .destination = peer.ip},
                              .peer = peer.queue_pairs[i],
                              .mtu = mtu,
                              .initiator_depth = 2,
                              .responder_resources = 2};
    if (!side.endpoint.connect(side.queue_pairs[i], p)) std::abort();
  }
  // One turn of both ends' loops. Returns frames that moved.
  std::size_t turn() {
    now = now + nanoseconds(1000);
    a.endpoint.on_timeout(now);
    b.endpoint.on_timeout(now);
    there.send(a, now);
    there.receive(b, now);
    back.send(b, now);
    back.receive(a, now);
    return there.count() + back.count();
  }

  EndpointOptions options;
  Side a;
  Side b;
  Ring there;
  Ring back;
  Instant now{microseconds(1)};
};

// Posts WRITEs round robin over `active` queue pairs, `window` outstanding altogether.
void run_writes(benchmark::State& state, std::uint32_t active, std::uint32_t idle, std::uint32_t length,
                PathMtu mtu, ControllerChoice::Kind controller) {
  World world(active, idle, mtu, controller);
  const std::uint32_t window = std::max<std::uint32_t>(256, 2 * active);
  std::uint32_t outstanding = 0;
  std::uint32_t next = 0;
  std::uint64_t done = 0;
  Completion completion;
  for (auto _ : state) {
    for (int i = 0; i < 64; ++i) {
      while (outstanding < window) {
        const wire::Qpn qpn = world.a.queue_pairs[next];
        next = next + 1 == active ? 0 : next + 1;
        if (!world.a.endpoint.post_send(qpn, {.kind = SendKind::write,
                                              .local = {kBase, length, world.a.key},
                                              .remote_address = kBase,
                                              .remote_key = world.b.key})) {
          break;
        }
        ++outstanding;
      }
      world.turn();
      while (world.a.endpoint.poll_completion(completion)) {
        --outstanding;
        ++done;
        if (completion.status != CompletionStatus::success) state.SkipWithError("a WRITE failed");
      }
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
  state.SetBytesProcessed(static_cast<std::int64_t>(done * length));
}

using Kind = ControllerChoice::Kind;
void BM_Write32(benchmark::State& state) {
  run_writes(state, static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)),
             32, PathMtu::b1024, Kind::off);
}
BENCHMARK(BM_Write32)
    ->ArgNames({"active", "idle"})
    ->Args({1, 0})
    ->Args({1024, 0})
    ->Args({4096, 0})
    ->Args({1, 100'000});

void BM_Write1MiB(benchmark::State& state) {
  run_writes(state, 1, 0, 1 << 20, static_cast<PathMtu>(state.range(0)), Kind::off);
}
BENCHMARK(BM_Write1MiB)->ArgName("mtu")->Arg(1024)->Arg(4096);

void BM_Write1MiBDcqcn(benchmark::State& state) {
  run_writes(state, 1, 0, 1 << 20, static_cast<PathMtu>(state.range(0)), Kind::dcqcn);
}
BENCHMARK(BM_Write1MiBDcqcn)->ArgName("mtu")->Arg(1024)->Arg(4096);

// What a WRITE of 1 MiB cannot be below at either end: its payload copied frame by frame, and the CRC of
// each.
void BM_CopyAndCrc1MiB(benchmark::State& state) {
  const auto mtu = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kLength = 1 << 20;
  std::vector<std::byte> from(kLength, std::byte{7}), to(kLength);
  std::uint32_t sum = 0;
  for (auto _ : state) {
    for (std::size_t at = 0; at + mtu <= kLength; at += mtu) {
      std::memcpy(&to[at], &from[at], mtu);
      sum ^= wire::crc32_extend(wire::kCrc32Start, wire::ConstBytes(to).subspan(at, mtu));
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kLength));
}
BENCHMARK(BM_CopyAndCrc1MiB)->ArgName("mtu")->Arg(1024)->Arg(4096);

// Resident memory of this process. Unit: bytes.
std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t pages = 0;
  file >> size >> pages;
  return pages * 4096;
}

// What an endpoint of 100 000 connected, idle queue pairs holds, its shared pools and one READ or atomic
// granted to each included.
void BM_IdleMemory(benchmark::State& state) {
  constexpr std::uint32_t kPairs = 100'000;
  EndpointOptions options;
  options.queue_pairs = kPairs;
  options.responder_resources = 2 * kPairs;
  HostMemory memory(options.memory_regions);
  std::int64_t grown = 0;
  for (auto _ : state) {
    const std::int64_t before = resident();
    Endpoint endpoint(options, memory);
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      const wire::Qpn qpn = endpoint.create({}).value();
      const ConnectParameters p{
          .path = {.source = wire::IpAddress::v4(1), .destination = wire::IpAddress::v4(2)},
          .peer = wire::Qpn(i + 2),
          .initiator_depth = 1,
          .responder_resources = 1};
      if (!endpoint.connect(qpn, p)) state.SkipWithError("cannot connect");
    }
    grown = std::max(grown, resident() - before);
  }
  state.counters["MB"] = static_cast<double>(grown) / 1e6;
}
BENCHMARK(BM_IdleMemory)->Iterations(1)->Repetitions(1);  // once: a second finds what the first has freed

}  // namespace

BENCHMARK_MAIN();
