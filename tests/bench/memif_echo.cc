// What a port of DPDK costs by itself: one frame goes to another process and comes back, again and again,
// with nothing done to it. The floor for any protocol over that port at window 1.
//
// usage: memif-echo EAL-ARGUMENT... -- echo                     the server: sends every frame back, until
// none comes
//        memif-echo EAL-ARGUMENT... -- ping BYTES MILLISECONDS   a line of JSON: quantiles of the round trip
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "dataplane/base/histogram.h"

namespace rocetune {
namespace {

constexpr std::uint16_t kPort = 0;
constexpr std::uint16_t kRing = 1024;
constexpr unsigned kBuffers = 4095;
constexpr std::uint16_t kRoom = 2048 + RTE_PKTMBUF_HEADROOM;
constexpr std::uint64_t kLostCoreNs =
    200'000;  // as soft::Worker: longer than anything but a descheduled thread
constexpr unsigned kTries = 40, kLooks = 25, kLookUs = 10'000;  // for the link: 10 s
constexpr unsigned kPatienceMs = 2000;                          // for a frame, once one has come
constexpr unsigned kAnswerMs = 50;                              // for a frame to come back, or it is lost

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "memif-echo: %s\n", what);
  std::exit(1);
}

rte_mempool* start(bool is_server) {
  rte_mempool* pool = rte_pktmbuf_pool_create("echo", kBuffers, 256, 0, kRoom, SOCKET_ID_ANY);
  const rte_eth_conf configuration{};
  if (pool == nullptr || rte_eth_dev_configure(kPort, 1, 1, &configuration) != 0 ||
      rte_eth_rx_queue_setup(kPort, 0, kRing, SOCKET_ID_ANY, nullptr, pool) != 0 ||
      rte_eth_tx_queue_setup(kPort, 0, kRing, SOCKET_ID_ANY, nullptr) != 0) {
    give_up("the port cannot be set up");
  }
  // A client does not start while nobody listens, and one that came too early was sent away: it is started
  // anew.
  for (unsigned i = 0; i < kTries; ++i) {
    if (rte_eth_dev_start(kPort) != 0) {
      rte_delay_us_sleep(kLooks * kLookUs);
      continue;
    }
    for (unsigned look = 0; look < kLooks * (is_server ? kTries : 1); ++look) {
      rte_eth_link link{};
      if (rte_eth_link_get_nowait(kPort, &link) == 0 && link.link_status == RTE_ETH_LINK_UP) return pool;
      rte_delay_us_sleep(kLookUs);
    }
    rte_eth_dev_stop(kPort);
  }
  give_up("the link does not come up");
}

std::uint64_t ticks_of(std::uint64_t milliseconds) { return rte_get_tsc_hz() / 1000 * milliseconds; }

// Until the frame is gone, or time is over.
bool send(rte_mbuf* frame, std::uint64_t end) {
  while (rte_eth_tx_burst(kPort, 0, &frame, 1) == 0) {
    if (rte_rdtsc() > end) return false;
  }
  return true;
}

int echo() {
  rte_mbuf* frame = nullptr;
  std::uint64_t end = rte_rdtsc() + ticks_of(kTries * kPatienceMs);
  while (rte_rdtsc() < end) {
    if (rte_eth_rx_burst(kPort, 0, &frame, 1) == 0) continue;
    end = rte_rdtsc() + ticks_of(kPatienceMs);
    if (!send(frame, end)) return 1;
  }
  return 0;
}

rte_mbuf* new_frame(rte_mempool* pool, std::uint16_t bytes) {
  rte_mbuf* frame = rte_pktmbuf_alloc(pool);
  if (frame == nullptr || rte_pktmbuf_append(frame, bytes) == nullptr) give_up("no buffer for such a frame");
  std::memset(rte_pktmbuf_mtod(frame, void*), 0, bytes);
  return frame;
}

int ping(rte_mempool* pool, std::uint16_t bytes, std::uint64_t milliseconds) {
  const double ns_per_tick = 1e9 / static_cast<double>(rte_get_tsc_hz());
  Histogram round_trips;
  std::uint64_t lost_core = 0, lost_frames = 0;
  rte_mbuf* frame = new_frame(pool, bytes);
  std::uint64_t posted = rte_rdtsc();
  const std::uint64_t end = posted + ticks_of(milliseconds);
  while (posted < end) {
    if (!send(frame, posted + ticks_of(kAnswerMs))) give_up("the port takes no frame");
    bool is_back = false;
    std::uint64_t now = posted;
    while (!is_back && now - posted < ticks_of(kAnswerMs)) {
      is_back = rte_eth_rx_burst(kPort, 0, &frame, 1) == 1;
      now = rte_rdtsc();
    }
    const auto ns = static_cast<std::uint64_t>(static_cast<double>(now - posted) * ns_per_tick);
    if (!is_back) {
      ++lost_frames;
      frame = new_frame(pool, bytes);
      now = rte_rdtsc();
    } else if (ns > kLostCoreNs) {
      ++lost_core;
    } else {
      round_trips.add(ns);
    }
    posted = now;
  }
  if (round_trips.count() == 0) give_up("no frame came back");
  std::printf(
      "{\"round_trips\": %llu, \"p50_ns\": %llu, \"p99_ns\": %llu, \"lost_core\": %llu, \"lost_frames\": "
      "%llu}\n",
      static_cast<unsigned long long>(round_trips.count()),
      static_cast<unsigned long long>(round_trips.percentile(Ratio::from_percent(50))),
      static_cast<unsigned long long>(round_trips.percentile(Ratio::from_percent(99))),
      static_cast<unsigned long long>(lost_core), static_cast<unsigned long long>(lost_frames));
  return 0;
}

int run(int argc, char** argv) {
  const int taken = rte_eal_init(argc, argv);
  if (taken < 0) give_up("EAL does not start");
  argc -= taken;
  argv += taken;
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "echo" && argc == 2) {
    start(true);
    return echo();
  }
  if (what == "ping" && argc == 4) {
    return ping(start(false), static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10)),
                std::strtoull(argv[3], nullptr, 10));
  }
  give_up("usage: EAL-ARGUMENT... -- echo | ping BYTES MILLISECONDS");
}

}  // namespace
}  // namespace rocetune

int main(int argc, char** argv) { return rocetune::run(argc, argv); }
