// Format "perftest": output of ib_write_bw and its kin, of all ages: banner, table, errors instead of a
// result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/evidence/format.h"
#include "agent/evidence/signs.h"

namespace rocetune::evidence {

struct PerftestRow {
  std::uint64_t bytes = 0;
  std::uint64_t iterations = 0;
  double average_gbps = 0;  // whatever unit the table has: MB/sec and MiB/sec are 2^20 bytes
  double message_rate_mpps = 0;
  int line = 0;
};

struct PerftestLatency {
  std::uint64_t bytes = 0;
  std::optional<double> typical_us, average_us;  // by duration (-D) there is only the average
  std::optional<double> p99_us;
  int line = 0;
};

struct PerftestRun {
  std::string test;        // "RDMA_Write BW", "Send Latency"
  std::string device;      // "mlx5_0"
  std::string link_type;   // "Ethernet", "IB"
  std::string connection;  // "RC"
  std::optional<int> qps, mtu_bytes, tx_depth, gid_index;
  std::vector<GidText> local, remote;  // of the banner, one a queue pair; the first few
  std::vector<PerftestRow> rows;       // the first kMostRows
  std::vector<PerftestLatency> latencies;
  std::vector<Quote> errors;      // texts that stand where a result should
  bool gid_types_differ = false;  // "Found Incompatibility issue with GID types"
  bool is_server = false;         // it waited for the client
  bool uses_gpu_memory = false;
  std::string command;  // behind the prompt in front
  int line = 0;
  static constexpr std::size_t kMostRows = 4096;

  // Of the row with the highest average; nullptr without one.
  const PerftestRow* best() const;
  bool is_ethernet() const { return link_type == "Ethernet"; }
};

struct Perftest {
  std::vector<PerftestRun> runs;  // the first kMostRuns
  Signs signs;
  static constexpr std::size_t kMostRuns = 1024;
};

// MB/sec and MiB/sec in bits.
inline constexpr double kPerftestBitsPerMib = 8.0 * 1024 * 1024;

void add_perftest_facts(Document& document, const Perftest& perftest);

Format perftest_format();

}  // namespace rocetune::evidence
