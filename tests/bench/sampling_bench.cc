// What sampling costs: 8 NICs, each with 600 ethtool statistics and 60 files in hw_counters, ten times a
// second.
//
// usage: sampling_bench FOLDER [SECONDS [ROUNDS]]
//
// Builds a tree of files under FOLDER, then reads at a true 10 Hz (so caches are as cold as they are in
// service) and prints one JSON object. The files are real ones; ethtool is a driver in memory that copies its
// statistics into the caller's buffer as the kernel does, because no machine at hand has eight such NICs. CPU
// time is the process's, user and system together: an upper bound of the user-space share.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "agent/counters/history.h"
#include "agent/counters/live_readers.h"
#include "dataplane/base/file.h"
#include "dataplane/base/json_writer.h"
#include "tests/agent/counters/fake_driver.h"

namespace {

using namespace rocetune;
using namespace rocetune::counters;

constexpr int kNics = 8;
constexpr int kEthtoolStatistics = 600;
constexpr int kHwCounters = 60;
constexpr Duration kInterval = milliseconds(100);

// The files in counters/ that node exporters know of; older ones read these and not hw_counters.
constexpr std::array kCounters{"VL15_dropped",
                               "excessive_buffer_overrun_errors",
                               "link_downed",
                               "link_error_recovery",
                               "local_link_integrity_errors",
                               "multicast_rcv_packets",
                               "multicast_xmit_packets",
                               "port_rcv_constraint_errors",
                               "port_rcv_data",
                               "port_rcv_errors",
                               "port_rcv_packets",
                               "port_rcv_remote_physical_errors",
                               "port_rcv_switch_relay_errors",
                               "port_xmit_constraint_errors",
                               "port_xmit_data",
                               "port_xmit_discards",
                               "port_xmit_packets",
                               "port_xmit_wait",
                               "symbol_error",
                               "unicast_rcv_packets",
                               "unicast_xmit_packets"};

// mlx5's names first, as many as the table knows, then per-queue rows as a real port has.
std::vector<std::string> names_of(const Schema& schema, Source source, int count, const char* filler) {
  std::vector<std::string> names;
  for (const auto& [name, row] : schema.vendor("mlx5")->rows) {
    for (const std::string& pattern : row.names[index_of(source)]) {
      const auto at = pattern.find("{p}");
      for (int p = 0; p < (at == std::string::npos ? 1 : 8); ++p) {
        std::string expanded = pattern;
        if (at != std::string::npos) expanded.replace(at, 3, std::to_string(p));
        names.push_back(expanded);
      }
    }
  }
  for (int i = 0; static_cast<int>(names.size()) < count; ++i)
    names.push_back(fmt::format("{}{}", filler, i));
  names.resize(static_cast<std::size_t>(count));
  return names;
}

void write_tree(const std::filesystem::path& root, const Schema& schema) {
  for (int nic = 0; nic < kNics; ++nic) {
    const auto device = root / fmt::format("class/infiniband/mlx5_{}", nic);
    const auto port = device / "ports/1";
    std::filesystem::create_directories(port / "hw_counters");
    std::filesystem::create_directories(port / "counters");
    // What other readers of this tree insist on.
    std::ofstream(device / "fw_ver") << "28.39.1002\n";
    std::ofstream(device / "board_id") << "MT_0000000838\n";
    std::ofstream(device / "hca_type") << "MT4129\n";
    std::ofstream(port / "state") << "4: ACTIVE\n";
    std::ofstream(port / "phys_state") << "5: LinkUp\n";
    std::ofstream(port / "rate") << "400 Gb/sec (4X NDR)\n";
    std::ofstream(port / "link_layer") << "Ethernet\n";
    std::ofstream(port / "hw_counters/lifespan") << "10\n";
    for (const char* name : kCounters) std::ofstream(port / "counters" / name) << "12345\n";
    for (const std::string& name : names_of(schema, Source::rdma, kHwCounters, "vendor_counter_")) {
      std::ofstream(port / "hw_counters" / name) << 1'000'000'000 + nic << "\n";
    }
  }
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Bench {
  Bench(const Schema& s, const std::filesystem::path& root) : schema(s) {
    const std::vector<std::string> names =
        names_of(schema, Source::ethtool, kEthtoolStatistics, "rx0_queue_row_");
    drivers.resize(kNics);
    std::vector<PortReaders> ports;
    for (int nic = 0; nic < kNics; ++nic) {
      auto& driver = drivers[static_cast<std::size_t>(nic)];
      driver.names = names;
      driver.values.assign(names.size(), 1'000'000'000);
      driver.before_values = [&driver] {
        for (auto& value : driver.values) value += 1000;
      };
      sockets.push_back(driver.socket());
    }
    for (int nic = 0; nic < kNics; ++nic) {
      PortReaders port{.port = fmt::format("eth{}", nic), .nic = "mlx5", .speed = gigabits_per_second(400)};
      port.readers[index_of(Source::ethtool)] =
          std::make_unique<EthtoolCounters>(sockets[static_cast<std::size_t>(nic)], port.port, clock);
      port.readers[index_of(Source::rdma)] = std::make_unique<RdmaCounters>(
          nullptr, fmt::format("mlx5_{}", nic), 1,
          (root / fmt::format("class/infiniband/mlx5_{}/ports/1/hw_counters", nic)).string(), clock);
      port.missing[index_of(Source::dcb)] = Unavailable{Unavailable::Kind::not_read, "not in this benchmark"};
      ports.push_back(std::move(port));
    }
    sampler.emplace(schema, std::move(ports), clock);
  }

  // Percent of one core over `ticks` at 10 Hz. With history: also remembers each reading and works out the
  // last second once a second, as an agent does.
  double percent_of_core(int ticks, bool with_history) {
    History history(schema);
    (void)sampler->read();
    const Instant begin = clock.now();
    const double cpu = cpu_seconds();
    Instant next = begin;
    for (int tick = 0; tick < ticks; ++tick) {
      next = next + kInterval;
      clock.sleep_until(next);
      const Reading reading = sampler->read();
      if (!with_history) continue;
      history.add(reading);
      if (tick % 10 == 9) (void)history.last(seconds(1));
    }
    return 100 * (cpu_seconds() - cpu) / (clock.now() - begin).seconds();
  }

  // The system calls of one reading, alone.
  double percent_of_core_by_calls(int ticks, const std::vector<Descriptor>& files) {
    char text[64];
    const Instant begin = clock.now();
    const double cpu = cpu_seconds();
    Instant next = begin;
    for (int tick = 0; tick < ticks; ++tick) {
      next = next + kInterval;
      clock.sleep_until(next);
      for (const Descriptor& file : files) (void)pread(file.fd(), text, sizeof text, 0);
    }
    return 100 * (cpu_seconds() - cpu) / (clock.now() - begin).seconds();
  }

  const Schema& schema;
  SystemClock clock;
  std::vector<testing::FakeDriver> drivers;
  std::vector<host::EthtoolSocket> sockets;
  std::optional<Sampler> sampler;
};

std::vector<Descriptor> open_files(const std::filesystem::path& root) {
  std::vector<Descriptor> out;
  for (int nic = 0; nic < kNics; ++nic) {
    const auto folder = root / fmt::format("class/infiniband/mlx5_{}/ports/1/hw_counters", nic);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename() != "lifespan")
        out.emplace_back(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    }
  }
  return out;
}

void write_rounds(JsonWriter& out, const char* name, std::vector<double> rounds) {
  std::ranges::sort(rounds);
  out.key(name).begin_object();
  out.member("median_percent_of_core", rounds[rounds.size() / 2]);
  out.member("least_percent_of_core", rounds.front()).member("most_percent_of_core", rounds.back());
  out.end_object();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: sampling_bench FOLDER [SECONDS [ROUNDS]]\n");
    return 2;
  }
  const int ticks = 10 * (argc > 2 ? std::atoi(argv[2]) : 3);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  const Schema schema = Schema::load(ConfigFiles()).value();
  write_tree(argv[1], schema);
  Bench bench(schema, argv[1]);
  const std::vector<Descriptor> files = open_files(argv[1]);
  std::vector<double> sampling, with_history, calls;
  for (int round = 0; round < rounds; ++round) {
    sampling.push_back(bench.percent_of_core(ticks, false));
    with_history.push_back(bench.percent_of_core(ticks, true));
    calls.push_back(bench.percent_of_core_by_calls(ticks, files));
  }
  JsonWriter out(JsonWriter::Style::compact);
  out.begin_object().member("nics", kNics).member("ethtool_statistics_per_nic", kEthtoolStatistics);
  out.member("hw_counters_per_nic", kHwCounters).member("rounds", rounds).member("ticks_per_round", ticks);
  write_rounds(out, "sampling", sampling);
  write_rounds(out, "sampling_and_history", with_history);
  write_rounds(out, "system_calls_alone", calls);
  out.end_object();
  std::printf("%s\n", out.take().c_str());
  return 0;
}
