// A whole test against a perftest on the other side, from the first byte over TCP to the last.
#pragma once

#include "dataplane/transport/pattern/session.h"
#include "dataplane/transport/perftest/exchange.h"
#include "dataplane/transport/perftest/test.h"

namespace rocetune::perftest {

// What the other side says it measured (bandwidth of WRITE and READ, where only the client measures).
struct PeerReport {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;
  double average = 0;   // MB/s of 2^20 bytes; Gb/s if it ran with --report_gbits
  double messages = 0;  // million/s
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("size_bytes", self.size...);
    visit("iterations", self.iterations...);
    visit("average", self.average...);
    visit("million_messages_per_s", self.messages...);
  }
};

constexpr int kPerftestSchemaVersion = 1;
struct Result {
  int schema_version = kPerftestSchemaVersion;
  std::string role;  // "client", "server"
  Test test = Test::write_bw;
  std::string port;
  std::string local_address;
  std::string peer_address;
  std::string peer_version;  // of its perftest
  Bytes size;
  std::uint32_t mtu = 0;  // agreed
  // By this side; none where only the other side sees messages come and go.
  std::uint64_t messages = 0;
  double seconds = 0;
  double messages_per_s = 0;
  double goodput_bits_per_s = 0;
  std::optional<pattern::LatencyResult> latency;
  std::optional<PeerReport> peer_report;
  pattern::SideResult counts;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("schema_version", self.schema_version...);
    visit("role", self.role...);
    visit("test", self.test...);
    visit("port", self.port...);
    visit("local_address", self.local_address...);
    visit("peer_address", self.peer_address...);
    visit("peer_version", self.peer_version...);
    visit("size_bytes", self.size...);
    visit("mtu_bytes", self.mtu...);
    visit("messages", self.messages...);
    visit("seconds", self.seconds...);
    visit("messages_per_s", self.messages_per_s...);
    visit("goodput_bits_per_s", self.goodput_bits_per_s...);
    visit("latency", self.latency...);
    visit("peer_report", self.peer_report...);
    visit("counts", self.counts...);
  }
};

// Errors: bad_input (options, what the other side says), io. `started` is called once a server listens.
Expected<Result> run(const pattern::Party& party, const Options& options,
                     const std::function<void()>& started);

std::string json_report(const Result& result);
std::string text_report(const Result& result, const TextTable::Look& look);

}  // namespace rocetune::perftest
